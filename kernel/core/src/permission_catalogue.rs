use crate::{Assembly, Kind};

/// Every permission that the application's modules declare, in the order of their names.
///
/// The facade provides it as a service once the modules are assembled; roles and API keys are
/// checked against it, and an administrator holds all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionCatalogue(Vec<(String, String)>);

impl PermissionCatalogue {
    /// Collects what the modules declare.
    #[must_use]
    pub fn of(assembly: &Assembly) -> Self {
        let contributions = assembly.modules().iter().flat_map(|module| &module.contributions);
        let mut permissions: Vec<(String, String)> = contributions
            .filter(|contribution| contribution.kind == Kind::PERMISSION)
            .map(|contribution| (contribution.name.clone(), contribution.detail.clone()))
            .collect();
        permissions.sort();
        permissions.dedup_by(|a, b| a.0 == b.0);
        Self(permissions)
    }

    /// Names and descriptions, in the order of the names.
    #[must_use]
    pub fn all(&self) -> &[(String, String)] {
        &self.0
    }

    /// Whether a module declares the permission.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.binary_search_by(|(known, _)| known.as_str().cmp(name)).is_ok()
    }
}
