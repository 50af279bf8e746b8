//! What people need to read and change a set.

/// The permissions of a set, by what they allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetPermissions {
    /// To read.
    pub view: String,
    /// To create.
    pub create: String,
    /// To change.
    pub update: String,
    /// To delete.
    pub delete: String,
    /// To see what was deleted, and to restore it, where the set deletes softly.
    pub restore: String,
}

impl SetPermissions {
    /// `<Set>.View`, `<Set>.Create`, `<Set>.Update`, `<Set>.Delete`.
    #[must_use]
    pub fn of(set: &str) -> Self {
        Self {
            view: format!("{set}.View"),
            create: format!("{set}.Create"),
            update: format!("{set}.Update"),
            delete: format!("{set}.Delete"),
            restore: format!("{set}.Restore"),
        }
    }

    /// Those that a set has, with what they allow in words.
    pub(crate) fn each(
        &self,
        view_only: bool,
        is_created: bool,
    ) -> impl Iterator<Item = (&String, &'static str)> {
        [
            (&self.view, "read", true),
            (&self.create, "create", is_created),
            (&self.update, "change", !view_only),
            (&self.delete, "delete", !view_only),
        ]
        .into_iter()
        .filter_map(|(permission, verb, has)| has.then_some((permission, verb)))
    }
}
