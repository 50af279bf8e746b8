use async_trait::async_trait;

use crate::Result;
use crate::settings::Secret;

/// A message to one mail address. `Debug` shows neither the address nor the text, which may hold a link
/// that opens something.
#[derive(Clone, Debug)]
pub struct Mail {
    /// The address.
    pub to: Secret,
    /// The subject, on one line.
    pub subject: String,
    /// The message, as plain text.
    pub text: Secret,
}

/// Whoever can deliver mail: a service that a module provides as `dyn MailSender`. Where nobody does, what
/// would have been sent must reach the person in another way, or not at all.
#[async_trait]
pub trait MailSender: Send + Sync + 'static {
    /// Takes a message over. It is delivered later; what is taken over isn't lost.
    ///
    /// # Errors
    ///
    /// When it can't be taken over now.
    async fn send(&self, mail: Mail) -> Result<()>;
}
