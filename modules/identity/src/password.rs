//! Passwords: what they must be, and how they are kept.
//!
//! Hashing is meant to cost time and memory, so it runs on threads that may block, and leaves one of the
//! machine's processors to everything else: a flood of sign-ins waits in line instead of taking 19 MiB
//! each. The line is short, and nobody stands in it for long: who finds it full is told to come back.
//! The memory of a hash is kept for the next: to be given it anew each time, page by page, took a sixth
//! of a sign-in.

mod common;

use std::sync::Arc;
use std::time::Duration;

use argon2::password_hash::PasswordVerifier as _;
use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use parking_lot::Mutex;
use svc_core::settings::Secret;
use svc_core::{Error, Result};
use tokio::sync::Semaphore;

/// The most characters of a password; enough for any sentence, and no way to keep a server busy.
const MAX_LENGTH: usize = 128;

/// How many wait for their turn; a hash takes some 20 ms.
const MAX_WAITING: usize = 200;

/// How long somebody waits.
const PATIENCE: Duration = Duration::from_secs(5);

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

/// Why a text can't be a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PasswordProblem {
    /// It has fewer characters than this.
    Short(usize),
    /// It has more characters than this.
    Long(usize),
    /// It is nothing but spaces.
    Blank,
    /// It is the person's name or address, or little more.
    Personal,
    /// It is one of those that are tried first.
    Common,
}

impl PasswordProblem {
    fn message(self) -> String {
        match self {
            Self::Short(least) => format!("must have at least {least} characters"),
            Self::Long(most) => format!("must have at most {most} characters"),
            Self::Blank => "must not be blank".to_owned(),
            Self::Personal => "must not be the person's name or mail address".to_owned(),
            Self::Common => {
                "is a password that many people use, so it is tried first; choose another"
                    .to_owned()
            }
        }
    }
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
    /// Those who hash and those who wait.
    line: Arc<Semaphore>,
    /// What nobody hashes in now: as many as there are places, at most.
    memory: Arc<Mutex<Vec<Vec<Block>>>>,
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
        let places = (processors - 1).max(1);
        Ok(Self {
            argon2: Argon2::new(Algorithm::Argon2id, Version::V0x13, params),
            min_length: usize::try_from(min_length).unwrap_or(MAX_LENGTH),
            places: Arc::new(Semaphore::new(places)),
            line: Arc::new(Semaphore::new(places + MAX_WAITING)),
            memory: Arc::default(),
        })
    }

    /// What is wrong with a new password of a person who has these names and addresses: its length,
    /// and whether it is tried first. Rules about kinds of characters make passwords easier to guess, so
    /// there are none (NIST SP 800-63B, section 3.1.1.2).
    pub(crate) fn problem(&self, password: &Secret, personal: &[&str]) -> Option<PasswordProblem> {
        let text = password.expose();
        let length = text.chars().count();
        if is_blank(text) {
            Some(PasswordProblem::Blank)
        } else if length < self.min_length {
            Some(PasswordProblem::Short(self.min_length))
        } else if length > MAX_LENGTH {
            Some(PasswordProblem::Long(MAX_LENGTH))
        } else if common::is_personal(text, personal) {
            Some(PasswordProblem::Personal)
        } else if common::is_common(text) {
            Some(PasswordProblem::Common)
        } else {
            None
        }
    }

    /// The fewest characters of a new password.
    pub(crate) fn min_length(&self) -> usize {
        self.min_length
    }

    /// As [`Passwords::problem`], for a program.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`](svc_core::ErrorKind::Invalid) for the field `password`.
    pub(crate) fn check_rule(&self, password: &Secret, personal: &[&str]) -> Result<()> {
        let Some(problem) = self.problem(password, personal) else { return Ok(()) };
        Err(Error::invalid("the password is not valid").field("password", problem.message()))
    }

    /// The password as a PHC string with a new salt.
    ///
    /// # Errors
    ///
    /// A fault of the hash or of the runtime.
    pub(crate) async fn hash(&self, password: Secret) -> Result<String> {
        let argon2 = self.argon2.clone();
        let salt = svc_core::random_array::<16>();
        self.on_thread(move |memory| {
            hash_in(memory, &argon2, &password, &salt).map(|hash| hash.to_string()).map_err(
                |error| {
                    Error::internal("a password could not be hashed").context(error.to_string())
                },
            )
        })
        .await
    }

    /// Compares a password with a stored hash; without one it takes as long and is wrong. One that is too
    /// long to be anybody's is wrong at once.
    ///
    /// # Errors
    ///
    /// A fault of the runtime, or a stored hash that is none.
    pub(crate) async fn verify(&self, stored: Option<String>, password: Secret) -> Result<Verdict> {
        if password.expose().chars().count() > MAX_LENGTH {
            return Ok(Verdict::Wrong);
        }
        let argon2 = self.argon2.clone();
        self.on_thread(move |memory| {
            let text = stored.as_deref().unwrap_or(NOBODY);
            let hash = PasswordHash::new(text)
                .map_err(|_| Error::internal("a stored password hash can't be read"))?;
            let current = is_of_cost(&hash, argon2.params());
            let right = match &hash.salt {
                // Two hashes are compared in constant time.
                Some(salt) if current => hash_in(memory, &argon2, &password, salt)
                    .is_ok_and(|computed| computed.hash == hash.hash),
                _ => argon2.verify_password(password.expose().as_bytes(), &hash).is_ok(),
            };
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
        work: impl FnOnce(&mut [Block]) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let standing = Arc::clone(&self.line).try_acquire_owned().map_err(|_| busy())?;
        let place = Arc::clone(&self.places).acquire_owned();
        let place = tokio::time::timeout(PATIENCE, place).await.map_err(|_| busy())?;
        let place = place
            .map_err(|error| Error::internal("password hashing has ended").caused_by(error))?;
        let (kept, blocks) = (Arc::clone(&self.memory), self.argon2.params().block_count());
        let done = tokio::task::spawn_blocking(move || {
            // The places are given back when the work is over, even if nobody waits for it any more.
            let (_place, _standing) = (place, standing);
            let all = || kept.lock();
            let mut memory = all().pop().unwrap_or_else(|| vec![Block::default(); blocks]);
            let outcome = work(&mut memory);
            all().push(memory);
            outcome
        });
        done.await.map_err(|error| Error::internal("password hashing failed").caused_by(error))?
    }
}

/// Whether a hash is as new ones are: of this kind, length and cost.
fn is_of_cost(hash: &PasswordHash, wanted: &Params) -> bool {
    let cost = |params: &Params| (params.m_cost(), params.t_cost(), params.p_cost());
    hash.algorithm == Algorithm::Argon2id.ident()
        && hash.version == Some(Version::V0x13.into())
        && hash.hash.is_some_and(|hash| hash.len() == Params::DEFAULT_OUTPUT_LEN)
        && Params::try_from(hash).is_ok_and(|params| cost(&params) == cost(wanted))
}

/// A hash, computed in memory that there is already.
fn hash_in(
    memory: &mut [Block],
    argon2: &Argon2<'_>,
    password: &Secret,
    salt: &[u8],
) -> Result<PasswordHash, argon2::password_hash::Error> {
    let mut output = [0; Params::DEFAULT_OUTPUT_LEN];
    let password = password.expose().as_bytes();
    argon2.hash_password_into_with_memory(password, salt, &mut output, memory)?;
    Ok(PasswordHash {
        algorithm: Algorithm::Argon2id.ident(),
        version: Some(Version::V0x13.into()),
        params: ParamsString::try_from(argon2.params())?,
        salt: Some(Salt::new(salt)?),
        hash: Some(Output::new(&output)?),
    })
}

fn busy() -> Error {
    Error::unavailable("too many passwords are being checked at once; try again in a few seconds")
        .retry_after(PATIENCE)
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::PasswordHasher as _;

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
        let cost = |memory| Params::new(memory, 2, 1, None).unwrap();
        for (kind, params) in
            [(Algorithm::Argon2id, cost(8 * 1024)), (Algorithm::Argon2i, cost(MEMORY_KIB))]
        {
            let older = Argon2::new(kind, Version::V0x13, params);
            let hash: PasswordHash =
                older.hash_password_with_salt(b"twelve chars", &[7; 16]).unwrap();
            let passwords = passwords();
            let verify = |text: &str| passwords.verify(Some(hash.to_string()), text.into());
            assert_eq!(verify("twelve chars").await.unwrap(), Verdict::RightButOutdated);
            assert_eq!(verify("twelve_chars").await.unwrap(), Verdict::Wrong);
        }
    }

    #[tokio::test]
    async fn a_hash_is_the_one_that_the_library_makes() {
        let current = passwords();
        let hash: PasswordHash =
            current.argon2.hash_password_with_salt(b"correct horse", &[7; 16]).unwrap();
        let mut memory = vec![Block::default(); current.argon2.params().block_count()];
        for _ in 0..2 {
            let own = hash_in(&mut memory, &current.argon2, &"correct horse".into(), &[7; 16]);
            assert_eq!(own.unwrap().to_string(), hash.to_string());
        }
        let verdict = current.verify(Some(hash.to_string()), "correct horse".into()).await;
        assert_eq!(verdict.unwrap(), Verdict::Right);
        assert_eq!(current.memory.lock().len(), 1, "it is kept for the next");
    }

    #[test]
    fn the_rule_asks_for_length_and_nothing_else() {
        let passwords = passwords();
        let problem = |text: &str| {
            let personal = ["Ada Lovelace", "ada.lovelace@example.com"];
            let outcome = passwords.check_rule(&text.into(), &personal);
            outcome.map_err(|error| error.fields()["password"][0].clone())
        };
        assert_eq!(problem("a lower case sentence"), Ok(()));
        assert_eq!(problem("pässwörterich"), Ok(()));
        assert_eq!(problem("elevenchars"), Err("must have at least 12 characters".into()));
        assert_eq!(problem(&" ".repeat(20)), Err("must not be blank".into()));
        assert_eq!(problem(&"x".repeat(129)), Err("must have at most 128 characters".into()));
        let personal = Err("must not be the person's name or mail address".into());
        assert_eq!(problem("Ada.Lovelace@example.com"), personal);
        assert!(problem("password12345").is_err());
    }

    #[tokio::test]
    async fn the_line_is_short_and_who_finds_it_full_is_told_so() {
        let passwords = passwords();
        let waiting = (0..MAX_WAITING + 50).map(|_| passwords.verify(None, "anything".into()));
        // All are asked once before the first can be done.
        let mut waiting: Vec<_> = waiting.map(Box::pin).collect();
        let refused = waiting.iter_mut().filter_map(|one| {
            match futures::FutureExt::now_or_never(one.as_mut()) {
                Some(Err(error)) => Some(error),
                _ => None,
            }
        });
        let refused: Vec<_> = refused.collect();
        assert!((1..=50).contains(&refused.len()), "{}", refused.len());
        assert!(refused.iter().all(|error| error.retry_delay().is_some()));
        drop(waiting);
    }

    #[tokio::test]
    async fn what_is_too_long_to_be_a_password_costs_no_hash() {
        let passwords = passwords();
        let taken = Arc::clone(&passwords.line)
            .acquire_many_owned(u32::try_from(passwords.line.available_permits()).unwrap());
        let _taken = taken.await.unwrap();
        let verdict = passwords.verify(None, "x".repeat(1_000_000).as_str().into()).await;
        assert_eq!(verdict.unwrap(), Verdict::Wrong);
        assert!(passwords.verify(None, "short".into()).await.is_err());
    }
}
