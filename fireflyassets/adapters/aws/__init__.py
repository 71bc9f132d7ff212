"""Our own storage on AWS: DynamoDB, S3 and SQS behind our ports.

Belongs here: clients, tables, the codec and one class per port. Does not: rules, Adobe, metrics.
"""
