//! Protection of secrets that must be read again: signing keys of webhooks, tokens of others.
//!
//! What is protected is encrypted with AES-256-GCM under a key that is not in the database, so a
//! copy of the database alone gives nothing away. A protected text names its key, so keys can be
//! changed: the first key of the ring protects, all of them can reveal.
//!
//! The keys come from `Svc:DataProtection:Keys`, or from a file that the first start makes, which
//! only its owner can read. A file that everybody on the machine can read or change stops the start.
//! Whoever loses the keys loses the secrets.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::settings::{Secret, SectionProblems};
use crate::{Error, Result, hex, random_array, random_token};

/// Bytes of a key.
const KEY_LENGTH: usize = 32;

/// What a protected text begins with; a later scheme gets another number.
const SCHEME: &str = "p1";

crate::settings_section! {
    /// The keys that protect stored secrets.
    pub struct ProtectionSettings in "Svc:DataProtection" {
        /// Keys of 32 random bytes in base64 (`openssl rand -base64 32`). The first protects, all
        /// of them reveal, so a new key is put before the old ones. None uses the file.
        pub keys: Vec<Secret> = vec![];
        /// The file with the keys, one a line, made by the first start. Several nodes need the
        /// same keys. None is `<application>.keys` in the working directory.
        pub key_file: Option<PathBuf> = None;
    }
    validate: check_keys;
}

fn check_keys(settings: &ProtectionSettings, problems: &mut SectionProblems) {
    if settings.keys.iter().any(|key| parse_key(key.expose()).is_none()) {
        problems.add("Keys", "32 random bytes in base64, as `openssl rand -base64 32` makes them");
    }
}

/// The keys that protect stored secrets.
pub struct KeyRing {
    keys: Vec<(String, LessSafeKey)>,
}

impl KeyRing {
    /// Takes the keys of the settings, or those of the file, which is made when it is not there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid), naming the file, when it can't be read
    /// or made, holds no key, or is open to everybody on the machine.
    pub fn load(settings: &ProtectionSettings, application: &str) -> Result<Self> {
        if !settings.keys.is_empty() {
            return Self::parse(settings.keys.iter().map(Secret::expose));
        }
        let default = || PathBuf::from(format!("{application}.keys"));
        let file = settings.key_file.clone().unwrap_or_else(default);
        let fault = |error: std::io::Error| {
            Error::invalid(format!("the key file `{}` can't be read or made", file.display()))
                .caused_by(error)
        };
        make_key_file(&file).map_err(fault)?;
        #[cfg(unix)]
        check_mode(&file, &std::fs::metadata(&file).map_err(fault)?)?;
        let text = std::fs::read_to_string(&file).map_err(fault)?;
        Self::parse(text.lines().filter(|line| !line.trim().is_empty()))
            .map_err(|error| error.context(format!("key file `{}`", file.display())))
    }

    /// A ring of keys in base64, the one that protects first.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) when there is none, or one is no key.
    pub fn parse<'a>(keys: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let expected = || Error::invalid("a key is 32 random bytes in base64");
        let keys = keys.into_iter().map(|text| {
            let bytes = parse_key(text).ok_or_else(expected)?;
            let key = UnboundKey::new(&AES_256_GCM, &bytes).map_err(|_| expected())?;
            Ok((name_of(&bytes), LessSafeKey::new(key)))
        });
        let keys = keys.collect::<Result<Vec<_>>>()?;
        if keys.is_empty() { Err(expected()) } else { Ok(Self { keys }) }
    }

    /// The name of the key that protects; it gives nothing of the key away.
    #[must_use]
    pub fn current(&self) -> &str {
        &self.keys[0].0
    }

    /// Whether the ring has the key of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.keys.iter().any(|(known, _)| known == name)
    }

    /// Protects a secret. It is revealed only for the same `purpose`, which names what the secret
    /// belongs to (`webhooks.endpoint:<id>`), so that it can't be moved to another record.
    #[must_use]
    pub fn protect(&self, purpose: &str, secret: &[u8]) -> String {
        let (name, key) = &self.keys[0];
        let nonce: [u8; NONCE_LEN] = random_array();
        let mut sealed = secret.to_vec();
        key.seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(purpose.as_bytes()),
            &mut sealed,
        )
        .expect("a secret is far shorter than what AES-GCM can seal");
        let bytes = [&nonce[..], &sealed].concat();
        format!("{SCHEME}.{name}.{}", STANDARD.encode(bytes))
    }

    /// Reveals a secret that was protected for `purpose`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](crate::ErrorKind::Internal) when the key is not in the ring, or
    /// the text was protected for another purpose or changed.
    pub fn reveal(&self, purpose: &str, protected: &str) -> Result<Vec<u8>> {
        let unreadable = || Error::internal("a protected secret can't be revealed");
        let mut parts = protected.split('.');
        let (Some(SCHEME), Some(name), Some(text), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(unreadable().context("it has no form that is known"));
        };
        let (_, key) = self.keys.iter().find(|(known, _)| known == name).ok_or_else(|| {
            unreadable().context(format!(
                "its key `{name}` is not among `Svc:DataProtection:Keys` or in the key file"
            ))
        })?;
        let mut bytes = STANDARD.decode(text).map_err(|_| unreadable())?;
        let (nonce, sealed) = bytes.split_at_mut_checked(NONCE_LEN).ok_or_else(unreadable)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| unreadable())?;
        let secret = key.open_in_place(nonce, Aad::from(purpose.as_bytes()), sealed);
        secret.map(|secret| secret.to_vec()).map_err(|_| unreadable())
    }
}

impl std::fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.keys.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_tuple("KeyRing").field(&names).finish()
    }
}

fn parse_key(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text.trim()).ok().filter(|bytes| bytes.len() == KEY_LENGTH)
}

/// The first bytes of the key's SHA-256: enough to tell keys apart.
fn name_of(key: &[u8]) -> String {
    let digest = digest::digest(&digest::SHA256, key);
    hex(&digest.as_ref()[..6])
}

/// Refuses a file that others than its owner and its group can use.
#[cfg(unix)]
fn check_mode(file: &Path, metadata: &std::fs::Metadata) -> Result<()> {
    let mode = std::os::unix::fs::MetadataExt::mode(metadata) & 0o777;
    if mode & 0o007 != 0 {
        let file = file.display();
        return Err(Error::invalid(format!(
            "the key file `{file}` is open to everybody on this machine (mode {mode:o}); take that \
             away with `chmod 600 {file}`"
        )));
    }
    Ok(())
}

/// Makes the file with one new key, unless it is there. Two starts at once end with one file: it
/// is written in full under another name first and then linked into place.
fn make_key_file(file: &Path) -> std::io::Result<()> {
    if file.exists() {
        return Ok(());
    }
    let key: [u8; KEY_LENGTH] = random_array();
    let mut draft = file.as_os_str().to_owned();
    draft.push(format!(".{}", random_token::<6>()));
    let draft = PathBuf::from(draft);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut writer = options.open(&draft)?;
    writeln!(writer, "{}", STANDARD.encode(key))?;
    writer.sync_all()?;
    let linked = std::fs::hard_link(&draft, file);
    std::fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn key() -> String {
        STANDARD.encode(random_array::<KEY_LENGTH>())
    }

    #[test]
    fn a_secret_is_revealed_for_its_purpose_only() {
        let ring = KeyRing::parse([key().as_str()]).unwrap();
        let protected = ring.protect("endpoint:1", b"whsec_x");
        assert_eq!(ring.reveal("endpoint:1", &protected).unwrap(), b"whsec_x");
        assert!(ring.reveal("endpoint:2", &protected).is_err());
        assert!(ring.reveal("endpoint:1", &protected.replace("p1.", "p2.")).is_err());
        let last = if protected.ends_with('A') { "B" } else { "A" };
        let changed = format!("{}{last}", &protected[..protected.len() - 1]);
        assert!(ring.reveal("endpoint:1", &changed).is_err());
        assert!(ring.reveal("endpoint:1", "p1.x.AAAA").is_err());
    }

    #[test]
    fn an_old_key_still_reveals_and_the_new_one_protects() {
        let (old, new) = (key(), key());
        let before = KeyRing::parse([old.as_str()]).unwrap();
        let protected = before.protect("a", b"secret");
        let after = KeyRing::parse([new.as_str(), old.as_str()]).unwrap();
        assert_eq!(after.reveal("a", &protected).unwrap(), b"secret");
        assert!(before.reveal("a", &after.protect("a", b"secret")).is_err());
    }

    #[test]
    fn the_key_file_is_made_once_and_only_its_owner_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shop.keys");
        let settings = ProtectionSettings { key_file: Some(file.clone()), ..Default::default() };
        let first = KeyRing::load(&settings, "shop").unwrap();
        let second = KeyRing::load(&settings, "shop").unwrap();
        assert_eq!(first.current(), second.current());
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_key_file_that_everybody_can_use_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shop.keys");
        std::fs::write(&file, key()).unwrap();
        let settings = ProtectionSettings { key_file: Some(file.clone()), ..Default::default() };
        for (mode, is_taken) in [(0o644, false), (0o602, false), (0o600, true), (0o440, true)] {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&file, permissions).unwrap();
            let outcome = KeyRing::load(&settings, "shop").map_err(|error| error.to_string());
            assert_eq!(outcome.is_ok(), is_taken, "{mode:o}: {outcome:?}");
            if let Err(refusal) = outcome {
                assert!(refusal.contains(&format!("chmod 600 {}", file.display())), "{refusal}");
            }
        }
    }

    #[test]
    fn starts_at_once_end_with_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shop.keys");
        let settings = ProtectionSettings { key_file: Some(file), ..Default::default() };
        let load = || KeyRing::load(&settings, "shop").unwrap().current().to_owned();
        let names: Vec<String> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..16).map(|_| scope.spawn(load)).collect();
            starts.into_iter().map(|start| start.join().unwrap()).collect()
        });
        assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn a_key_file_holds_keys_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shop.keys");
        let settings = ProtectionSettings { key_file: Some(file.clone()), ..Default::default() };
        let load = |content: &str| {
            std::fs::write(&file, content).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
            KeyRing::load(&settings, "shop")
        };
        let (old, new) = (key(), key());
        let before = load(&old).unwrap();
        let ring = load(&format!("\r\n  {new}\t\r\n\n{old}")).unwrap();
        assert_eq!(ring.reveal("a", &before.protect("a", b"x")).unwrap(), b"x");
        assert!(ring.has(before.current()) && ring.current() != before.current());
        let of_length = |length: usize| STANDARD.encode(&[7_u8; 64][..length]);
        for wrong in [
            "",
            "\n \n",
            "# a key",
            &format!("{old}\nx"),
            &format!("{old} {new}"),
            &of_length(31),
            &of_length(33),
            old.trim_end_matches('='),
        ] {
            let error = load(wrong).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Invalid, "{wrong}");
            assert!(error.report().contains("shop.keys"), "{}", error.report());
            assert!(!error.report().contains(&old), "a key is told: {}", error.report());
        }
    }

    #[test]
    fn no_part_of_a_protected_text_can_be_changed_or_left_out() {
        let ring = KeyRing::parse([key().as_str()]).unwrap();
        for secret in [&b""[..], b"x", &[0; 100]] {
            let protected = ring.protect("a", secret);
            assert_eq!(ring.reveal("a", &protected).unwrap(), secret);
            assert_ne!(ring.protect("a", secret), protected, "each has a nonce of its own");
            let (start, text) = protected.rsplit_once('.').unwrap();
            let bytes = STANDARD.decode(text).unwrap();
            let reveal =
                |bytes: &[u8]| ring.reveal("a", &format!("{start}.{}", STANDARD.encode(bytes)));
            for place in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[place] ^= 1;
                assert!(reveal(&changed).is_err(), "{place}");
                assert!(reveal(&bytes[..place]).is_err(), "{place}");
            }
            assert!(reveal(&[&bytes[..], &[0]].concat()).is_err());
            for other in [format!("{protected}."), format!(".{protected}"), format!(" {protected}")]
            {
                assert!(ring.reveal("a", &other).is_err(), "{other}");
            }
        }
    }
}
