-- By which account at another issuer a session was begun, and what the issuer said of it (an ID token,
-- protected with the application's key ring): who signs out here signs out there with it. Subject and
-- session there (`sid`) are what the issuer names when somebody signs out there.
CREATE TABLE identity_external_sessions (
    session_id UUID NOT NULL PRIMARY KEY REFERENCES identity_sessions (id) ON DELETE CASCADE,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    sid TEXT,
    id_token TEXT
);
CREATE INDEX identity_external_sessions_subject ON identity_external_sessions (issuer, subject);
CREATE INDEX identity_external_sessions_sid ON identity_external_sessions (issuer, sid);
