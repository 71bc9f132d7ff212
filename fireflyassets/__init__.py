"""The asset factory: campaign jobs in, finished creatives out."""
