//! Passwords: what they must be, and how they are kept.
//!
//! Hashing is meant to cost time and memory, so it runs on threads that may block, and no more at
//! once than the machine has processors: a flood of sign-ins waits in line instead of taking 19 MiB
//! each.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use svc_core::settings::Secret;
use svc_core::{Error, Result};
use tokio::sync::Semaphore;

/// The most characters of a password; enough for any sentence, and no way to keep a server busy.
const MAX_LENGTH: usize = 128;

/// The second choice of the OWASP cheat sheet on password storage: 19 MiB, 2 passes, 1 lane.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// A hash of the current cost that no password has, for people who have none: to refuse them takes
/// as long as to refuse a wrong password.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA\
                      $AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// What came of comparing a password with a stored hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is another password, or there is none.
    Wrong,
    /// It is the password, and the stored hash is of the current cost.
    Right,
    /// It is the password, and the stored hash is of an older cost: store a new one.
    RightButOutdated,
}

/// Whether a password says nothing at all.
pub(crate) fn is_blank(password: &str) -> bool {
    password.trim().is_empty()
}

/// Hashes and compares passwords.
pub(crate) struct Passwords {
    argon2: Argon2<'static>,
    min_length: usize,
    places: Arc<Semaphore>,
}

impl Passwords {
    /// # Errors
    ///
    /// When the library refuses the cost, which is a fault of the program.
    pub(crate) fn new(min_length: u32) -> Result<Self> {
        let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(|error| {
            Error::internal("the cost of password hashes is refused").context(error.to_string())
        })?;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            argon2: Argon2::new(Algorithm::Argon2id, Version::V0x13, params),
            min_length: usize::try_from(min_length).unwrap_or(MAX_LENGTH),
            places: Arc::new(Semaphore::new(processors)),
        })
    }

    /// Checks a new password: its length, and that it isn't the person's address. Rules about kinds
    /// of characters make passwords easier to guess, so there are none (NIST SP 800-63B, section
    /// 3.1.1.2).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for the field `password`.
    pub(crate) fn check_rule(&self, password: &Secret, email: &str) -> Result<()> {
        let length = password.expose().chars().count();
        let problem = if length < self.min_length {
            format!("must have at least {} characters", self.min_length)
        } else if length > MAX_LENGTH {
            format!("must have at most {MAX_LENGTH} characters")
        } else if is_blank(password.expose()) {
            "must not be blank".to_owned()
        } else if password.expose().to_lowercase() == email.to_lowercase() {
            "must not be the mail address".to_owned()
        } else {
            return Ok(());
        };
        Err(Error::invalid("the password is not valid").field("password", problem))
    }

    /// The password as a PHC string with a new salt.
    ///
    /// # Errors
    ///
    /// A fault of the hash or of the runtime.
    pub(crate) async fn hash(&self, password: Secret) -> Result<String> {
        let argon2 = self.argon2.clone();
        let salt = svc_core::random_array::<16>();
        self.on_thread(move || {
            let hash = argon2.hash_password_with_salt(password.expose().as_bytes(), &salt);
            hash.map(|hash: PasswordHash| hash.to_string()).map_err(|error| {
                Error::internal("a password could not be hashed").context(error.to_string())
            })
        })
        .await
    }

    /// Compares a password with a stored hash; without one it takes as long and is wrong.
    ///
    /// # Errors
    ///
    /// A fault of the runtime, or a stored hash that is none.
    pub(crate) async fn verify(&self, stored: Option<String>, password: Secret) -> Result<Verdict> {
        let argon2 = self.argon2.clone();
        self.on_thread(move || {
            let text = stored.as_deref().unwrap_or(NOBODY);
            let hash = PasswordHash::new(text)
                .map_err(|_| Error::internal("a stored password hash can't be read"))?;
            let right = argon2.verify_password(password.expose().as_bytes(), &hash).is_ok();
            let current = Params::try_from(&hash).is_ok_and(|params| {
                let cost = |params: &Params| (params.m_cost(), params.t_cost(), params.p_cost());
                cost(&params) == cost(argon2.params())
            });
            Ok(match (right && stored.is_some(), current) {
                (false, _) => Verdict::Wrong,
                (true, true) => Verdict::Right,
                (true, false) => Verdict::RightButOutdated,
            })
        })
        .await
    }

    async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place
            .map_err(|error| Error::internal("password hashing has ended").caused_by(error))?;
        let done = tokio::task::spawn_blocking(move || {
            // The place is given back when the work is over, even if nobody waits for it any more.
            let _place = place;
            work()
        });
        done.await.map_err(|error| Error::internal("password hashing failed").caused_by(error))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passwords() -> Passwords {
        Passwords::new(12).unwrap()
    }

    #[tokio::test]
    async fn a_password_is_known_again_by_its_hash() {
        let passwords = passwords();
        let hash = passwords.hash("correct horse battery".into()).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        let verify = async |text: &str| passwords.verify(Some(hash.clone()), text.into()).await;
        assert_eq!(verify("correct horse battery").await.unwrap(), Verdict::Right);
        assert_eq!(verify("correct horse batterz").await.unwrap(), Verdict::Wrong);
        assert_ne!(passwords.hash("correct horse battery".into()).await.unwrap(), hash);
    }

    #[tokio::test]
    async fn who_has_no_password_is_refused_at_the_same_cost() {
        let hash = PasswordHash::new(NOBODY).unwrap();
        let params = Params::try_from(&hash).unwrap();
        let current = passwords();
        let wanted = current.argon2.params();
        assert_eq!(
            (params.m_cost(), params.t_cost(), params.p_cost(), params.output_len()),
            (wanted.m_cost(), wanted.t_cost(), wanted.p_cost(), Some(Params::DEFAULT_OUTPUT_LEN))
        );
        assert_eq!(current.verify(None, "anything at all".into()).await.unwrap(), Verdict::Wrong);
    }

    #[tokio::test]
    async fn a_hash_of_an_older_cost_is_told_apart() {
        let older = Argon2::new(
            Algorithm::Argon2id,
            Version::V0x13,
            Params::new(8 * 1024, 1, 1, None).unwrap(),
        );
        let hash: PasswordHash = older.hash_password_with_salt(b"twelve chars", &[7; 16]).unwrap();
        let verdict = passwords().verify(Some(hash.to_string()), "twelve chars".into()).await;
        assert_eq!(verdict.unwrap(), Verdict::RightButOutdated);
    }

    #[test]
    fn the_rule_asks_for_length_and_nothing_else() {
        let passwords = passwords();
        let problem = |text: &str| {
            let outcome = passwords.check_rule(&text.into(), "ada.lovelace@example.com");
            outcome.map_err(|error| error.fields()["password"][0].clone())
        };
        assert_eq!(problem("a lower case sentence"), Ok(()));
        assert_eq!(problem("pässwörterich"), Ok(()));
        assert_eq!(problem("elevenchars"), Err("must have at least 12 characters".into()));
        assert_eq!(problem(&" ".repeat(20)), Err("must not be blank".into()));
        assert_eq!(problem(&"x".repeat(129)), Err("must have at most 128 characters".into()));
        assert_eq!(problem("Ada.Lovelace@example.com"), Err("must not be the mail address".into()));
    }
}
