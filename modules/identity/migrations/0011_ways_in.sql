-- Whether a passkey has checked who touches it: only then it lets its person in by itself.
ALTER TABLE identity_passkeys ADD COLUMN verifies BOOLEAN NOT NULL DEFAULT FALSE;

-- A recovery code that stands in for a lost passkey says whose it is.
CREATE INDEX identity_recovery_codes_hash ON identity_recovery_codes (code_hash);
