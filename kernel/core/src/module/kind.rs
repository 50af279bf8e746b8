/// What kind of thing a module contributes. Each part of the kernel declares the kinds that its
/// words add, and a module may declare kinds of its own: two with one heading are one kind.
///
/// ```
/// use svc_core::Kind;
///
/// /// A report that people can open.
/// const REPORT: Kind = Kind::new("reports");
/// assert_eq!(REPORT.heading(), "reports");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    heading: &'static str,
    may_repeat: bool,
}

impl Kind {
    /// A setting of the configuration.
    pub const SETTING: Self = Self::new("settings");
    /// A permission.
    pub const PERMISSION: Self = Self::new("permissions");
    /// The code of an error.
    pub const ERROR_CODE: Self = Self::new("codes of errors");
    /// A worker that runs beside requests.
    pub const WORKER: Self = Self::new("workers");
    /// A command of the program.
    pub const COMMAND: Self = Self::new("commands");

    /// A kind whose contributions are printed below `heading` and have names of their own among
    /// all modules.
    #[must_use]
    pub const fn new(heading: &'static str) -> Self {
        Self { heading, may_repeat: false }
    }

    /// Lets several contributions have one name: several handlers may hear one event.
    #[must_use]
    pub const fn repeatable(self) -> Self {
        Self { may_repeat: true, ..self }
    }

    /// The heading under which contributions of this kind are printed.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        self.heading
    }

    pub(super) const fn may_repeat(self) -> bool {
        self.may_repeat
    }
}
