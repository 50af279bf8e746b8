-- By which account at another issuer a session was begun, and what the issuer said of it (an ID token,
-- protected with the application's key ring): who signs out here signs out there with it.
CREATE TABLE identity_external_sessions (
    session_id UUID NOT NULL PRIMARY KEY REFERENCES identity_sessions (id) ON DELETE CASCADE,
    issuer TEXT NOT NULL,
    id_token TEXT
);
