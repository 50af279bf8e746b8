-- A machine user acts for a program: it has no mail address, no password and no session, only API keys and
-- clients that act as it.
ALTER TABLE identity_users ADD COLUMN is_machine BOOLEAN NOT NULL DEFAULT FALSE;
