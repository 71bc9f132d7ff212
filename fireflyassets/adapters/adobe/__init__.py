"""Adobe over HTTP: Firefly, Photoshop and the token service, behind the ports of paid calls.

Belongs here: everything that knows Adobe's URLs, headers, bodies and error spellings.
Does not: pacing, tries of a paid submit, and what becomes of a job; those are decided by the
callers from the answers given here.

    factory -> firefly, photoshop -> service -> submission, status, results
                                     service -> wire -> ims -> mint
                                                wire, mint, results -> exchange -> transport, hosts
"""
