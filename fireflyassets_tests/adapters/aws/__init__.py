"""Tests of the AWS adapters: what the ports' suites can't see."""
