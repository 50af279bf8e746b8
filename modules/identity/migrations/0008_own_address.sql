-- The address that a link was sent to, where it is to become the person's.
ALTER TABLE identity_links ADD COLUMN email TEXT;
