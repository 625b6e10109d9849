"""The node: parameters, the thread that steps, requests and services."""
