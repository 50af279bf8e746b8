//! The names by which the parts of this module, and its nodes, know each other.

/// The module's name.
pub(crate) const NAME: &str = "bff";

/// What a host's name has behind that of its application.
pub(crate) const SUFFIX: &str = "-browser-host";

/// The topic by which nodes tell each other that sessions have changed or ended.
pub(crate) const TOPIC: &str = "bff";
