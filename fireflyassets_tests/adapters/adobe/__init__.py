"""Tests of the Adobe clients: payloads over a scripted transport, bytes over loopback sockets."""
