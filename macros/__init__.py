"""What an author can call on a page, the audit of pages and of the built site, and the hook that builds it."""
