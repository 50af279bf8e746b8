//! Who the server runs as: PostgreSQL refuses to run as root.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::failure::{Failure, Result};
use crate::process;

/// The user that owns a cluster and runs its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Account {
    /// Whoever runs the chore.
    Own,
    /// An unprivileged user, because root runs the chore.
    Other {
        /// The user's number.
        user: u32,
        /// The number of the user's main group.
        group: u32,
    },
}

impl Account {
    /// Chooses the account: one's own, or for root `postgres`, or `nobody` where there is none.
    pub(crate) fn choose() -> Result<Self> {
        if process::user_id()? != 0 {
            return Ok(Self::Own);
        }
        ["postgres", "nobody"]
            .into_iter()
            .find_map(process::account_ids)
            .map(|(user, group)| Self::Other { user, group })
            .ok_or_else(|| {
                Failure::new(
                    "PostgreSQL refuses to run as root and there is neither a user `postgres` nor \
                     `nobody`: create one, or run this as an ordinary user",
                )
            })
    }

    /// Lets the command run as this account.
    pub(crate) fn apply(self, command: &mut Command) {
        if let Self::Other { user, group } = self {
            command.uid(user).gid(group);
        }
    }

    /// Hands a file or folder to this account.
    pub(crate) fn own(self, path: &Path) -> Result<()> {
        if let Self::Other { user, group } = self {
            chown(path, Some(user), Some(group))
                .map_err(|cause| Failure::at(path, "change the owner of", &cause))?;
        }
        Ok(())
    }

    /// Whether a file or folder, and no link to one, belongs to this account.
    pub(crate) fn owns(self, path: &Path) -> bool {
        let user = match self {
            Self::Own => process::user_id().ok(),
            Self::Other { user, .. } => Some(user),
        };
        fs::symlink_metadata(path).is_ok_and(|found| user == Some(found.uid()))
    }

    /// Whether this account can get into the folder through all folders above it.
    pub(crate) fn can_enter(self, folder: &Path) -> bool {
        let mut command = Command::new("sh");
        command.args(["-c", "test -x \"$0\""]).arg(folder).current_dir("/");
        self.apply(&mut command);
        process::succeeds(&mut command)
    }
}
