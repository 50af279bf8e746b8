use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Error, Result};

macro_rules! id_types {
    ($($(#[$doc:meta])* $name:ident;)+) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        })+
    };
}

id_types! {
    /// An organisation: the boundary that nothing which is read or written crosses.
    OrganisationId;
    /// A person, the same in every organisation that the person belongs to.
    UserId;
}

impl OrganisationId {
    /// How a column tells of an organisation or of none, where all take their turns along one index: none is
    /// the nil UUID.
    #[must_use]
    pub fn or_nil(organisation: Option<Self>) -> Uuid {
        organisation.map_or_else(Uuid::nil, |organisation| organisation.0)
    }

    /// What [`OrganisationId::or_nil`] told.
    #[must_use]
    pub fn unless_nil(stored: Uuid) -> Option<Self> {
        (!stored.is_nil()).then_some(Self(stored))
    }
}

/// A permission as a type, for what names it where values can't stand, such as an extractor.
///
/// ```
/// use svc_core::Permission;
///
/// /// To place orders.
/// pub struct PlaceOrders;
///
/// impl Permission for PlaceOrders {
///     const NAME: &'static str = "Orders.Place";
/// }
/// ```
pub trait Permission: 'static {
    /// Its name, as the module declares it.
    const NAME: &'static str;
}

/// The permissions that somebody holds, such as `Webhooks.Manage`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionSet {
    everything: bool,
    names: Arc<BTreeSet<String>>,
}

impl PermissionSet {
    /// Every permission there is, for the system itself.
    #[must_use]
    pub fn everything() -> Self {
        Self { everything: true, names: Arc::default() }
    }

    /// Whether `permission` is among them.
    #[must_use]
    pub fn contains(&self, permission: &str) -> bool {
        self.everything || self.names.contains(permission)
    }

    /// The names in order; empty for [`PermissionSet::everything`].
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Those that are also in `scope`: what an API key with a scope may do.
    #[must_use]
    pub fn restricted_to(&self, scope: &BTreeSet<String>) -> Self {
        let names = scope.iter().filter(|name| self.contains(name)).cloned().collect();
        Self { everything: false, names: Arc::new(names) }
    }
}

impl<S: Into<String>> FromIterator<S> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Self { everything: false, names: Arc::new(names) }
    }
}

/// How a principal came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PrincipalKind {
    /// A person who signed in.
    User,
    /// A person's API key.
    ApiKey,
    /// The application itself: jobs, handlers, set-up.
    System,
}

/// By which means a principal was authenticated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Means {
    /// None that a request carried: the application itself says who acts.
    #[default]
    Trusted,
    /// A credential in `Authorization`, which no page of another site can make a browser send.
    Header,
    /// An API key, by its id; in `Authorization`, too.
    ApiKey(Uuid),
    /// A cookie, which a browser sends by itself: what changes something must come from a page of
    /// this application.
    Cookie,
}

impl Means {
    /// The API key, where it was one.
    #[must_use]
    pub fn api_key(self) -> Option<Uuid> {
        match self {
            Self::ApiKey(key) => Some(key),
            Self::Trusted | Self::Header | Self::Cookie => None,
        }
    }
}

/// Who acts: a person or the system, in one organisation, with the permissions that hold now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    kind: PrincipalKind,
    user: Option<UserId>,
    display_name: Arc<str>,
    organisation: Option<OrganisationId>,
    permissions: PermissionSet,
    roles: Arc<BTreeSet<String>>,
    claims: Arc<BTreeMap<String, Vec<String>>>,
    means: Means,
    /// Who it is with rights of its own, where it was entrusted with all.
    own: Option<Arc<Self>>,
}

impl Principal {
    /// A person in an organisation.
    #[must_use]
    pub fn user(
        user: UserId,
        display_name: impl Into<Arc<str>>,
        organisation: OrganisationId,
        permissions: PermissionSet,
    ) -> Self {
        Self {
            kind: PrincipalKind::User,
            user: Some(user),
            display_name: display_name.into(),
            organisation: Some(organisation),
            permissions,
            roles: Arc::default(),
            claims: Arc::default(),
            means: Means::Trusted,
            own: None,
        }
    }

    /// The system within one organisation: it may do everything there, and nothing elsewhere.
    #[must_use]
    pub fn system_in(organisation: OrganisationId) -> Self {
        Self { organisation: Some(organisation), ..Self::system() }
    }

    /// The system across organisations. What it reads is of all of them, and what it writes must
    /// name its organisation, so use [`Principal::system_in`] wherever there is one.
    #[must_use]
    pub fn system() -> Self {
        Self {
            kind: PrincipalKind::System,
            user: None,
            display_name: "System".into(),
            organisation: None,
            permissions: PermissionSet::everything(),
            roles: Arc::default(),
            claims: Arc::default(),
            means: Means::Trusted,
            own: None,
        }
    }

    /// The same person through an API key that is limited to `scope`. A scope names permissions alone, so
    /// the key acts for none of the person's roles.
    #[must_use]
    pub fn through_api_key(mut self, scope: &BTreeSet<String>) -> Self {
        self.kind = PrincipalKind::ApiKey;
        self.permissions = self.permissions.restricted_to(scope);
        self.roles = Arc::default();
        self
    }

    /// The same person with these roles of the organisation, by their names, in the place of those before. What a
    /// role may do stands among the permissions; its name is for those who ask who somebody is.
    #[must_use]
    pub fn with_roles<S: AsRef<str>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        let names = names.into_iter().map(|name| name.as_ref().to_lowercase());
        self.roles = Arc::new(names.collect());
        self
    }

    /// The same principal with every permission and without claims, for what others decided: an action that a
    /// workflow calls. What it leaves to be done later, such as a job, goes by its [own rights](Self::own).
    #[must_use]
    pub fn entrusted(&self) -> Self {
        Self {
            permissions: PermissionSet::everything(),
            claims: Arc::default(),
            own: Some(Arc::new(self.own().clone())),
            ..self.clone()
        }
    }

    /// The principal with the rights of its own, where it was [entrusted](Self::entrusted) with all; otherwise itself.
    #[must_use]
    pub fn own(&self) -> &Self {
        self.own.as_deref().unwrap_or(self)
    }

    /// Adds claims that row filters can use, by name.
    #[must_use]
    pub fn with_claims(mut self, claims: BTreeMap<String, Vec<String>>) -> Self {
        self.claims = Arc::new(claims);
        self
    }

    /// The same principal, known by these means.
    #[must_use]
    pub fn known_by(mut self, means: Means) -> Self {
        self.means = means;
        self
    }

    /// By which means the principal was authenticated.
    #[must_use]
    pub fn means(&self) -> Means {
        self.means
    }

    /// How the principal came to be.
    #[must_use]
    pub fn kind(&self) -> PrincipalKind {
        self.kind
    }

    /// The person; the system is none.
    #[must_use]
    pub fn user_id(&self) -> Option<UserId> {
        self.user
    }

    /// The name that people know the person by.
    #[must_use]
    pub fn display_name(&self) -> &str {
        &self.display_name
    }

    /// The organisation that everything read or written belongs to; none only for the system
    /// across organisations.
    #[must_use]
    pub fn organisation(&self) -> Option<OrganisationId> {
        self.organisation
    }

    /// The permissions that hold.
    #[must_use]
    pub fn permissions(&self) -> &PermissionSet {
        &self.permissions
    }

    /// The roles that the principal has now, in the order of their names, which are in small letters.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        self.roles.iter().map(String::as_str)
    }

    /// Whether the principal has a role of this name, whatever its case. Who holds every permission has no
    /// role by that, and the system has none.
    #[must_use]
    pub fn has_role(&self, name: &str) -> bool {
        !self.roles.is_empty() && self.roles.contains(&name.to_lowercase())
    }

    /// The values of a claim; none where there is no such claim.
    #[must_use]
    pub fn claims(&self, name: &str) -> &[String] {
        self.claims.get(name).map_or(&[], Vec::as_slice)
    }

    /// What decides on what the principal may see and do, as a text: permissions, roles and claims. It is the
    /// same where all of them are.
    #[must_use]
    pub fn rights(&self) -> String {
        let PermissionSet { everything, names } = &self.permissions;
        format!("{everything} {names:?} {:?} {:?}", self.roles, self.claims)
    }

    /// Whether the principal holds a permission.
    #[must_use]
    pub fn can(&self, permission: &str) -> bool {
        self.permissions.contains(permission)
    }

    /// Insists on a permission.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forbidden`](crate::ErrorKind::Forbidden), naming the permission.
    pub fn require(&self, permission: &str) -> Result<()> {
        if self.can(permission) { Ok(()) } else { Err(Error::lacks_permission(permission)) }
    }

    /// What is recorded of the principal with a change.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor { user: self.user, display_name: self.display_name.to_string() }
    }
}

/// Who did something, as it is stored with a change or a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    /// The person; none when the system did it.
    pub user: Option<UserId>,
    /// The person's name at that time.
    pub display_name: String,
}

/// Somebody of an organisation, as people choose among each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The person.
    pub id: UserId,
    /// What the person is called.
    pub display_name: String,
}

/// A role of an organisation, as it is named elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRole {
    /// Its name, unique in the organisation without regard to case.
    pub name: String,
    /// Whether somebody has it who can sign in now.
    pub is_held: bool,
}

/// Where rights are looked up anew, long after somebody signed in: the `identity` module.
#[async_trait]
pub trait Directory: Send + Sync + 'static {
    /// The principal that a person is in an organisation now; none when the person is unknown,
    /// disabled, or no member.
    ///
    /// # Errors
    ///
    /// A fault of the store.
    async fn principal(
        &self,
        user: UserId,
        organisation: OrganisationId,
    ) -> Result<Option<Principal>>;

    /// The principal that a person is through an API key now, narrowed to the key's scope; none
    /// also when the key is unknown, another person's, revoked, or has ended. A directory without
    /// API keys knows none.
    ///
    /// # Errors
    ///
    /// A fault of the store.
    async fn principal_through(
        &self,
        user: UserId,
        organisation: OrganisationId,
        key: Uuid,
    ) -> Result<Option<Principal>> {
        let _ = (user, organisation, key);
        Ok(None)
    }

    /// People of an organisation who can sign in now and whose name has a part like this, whatever its case: at most so many, by their
    /// names. A directory that can't tell names none.
    ///
    /// # Errors
    ///
    /// A fault of the store.
    async fn members(
        &self,
        organisation: OrganisationId,
        named: &str,
        most: u32,
    ) -> Result<Vec<Member>> {
        let _ = (organisation, named, most);
        Ok(Vec::new())
    }

    /// Which of some permissions were granted to somebody in an organisation who can sign in now. Administrators, who hold
    /// all of them, are left out. None where the directory can't tell.
    ///
    /// # Errors
    ///
    /// A fault of the store.
    async fn granted_in(
        &self,
        organisation: OrganisationId,
        permissions: &BTreeSet<String>,
    ) -> Result<Option<BTreeSet<String>>> {
        let _ = (organisation, permissions);
        Ok(None)
    }

    /// The roles of an organisation, by their names. None where the directory can't tell.
    ///
    /// # Errors
    ///
    /// A fault of the store.
    async fn roles_in(&self, organisation: OrganisationId) -> Result<Option<Vec<KnownRole>>> {
        let _ = organisation;
        Ok(None)
    }

    /// Some of the organisations that there are, in the order of their identifiers: those behind
    /// `after`, and at most `most` of them.
    ///
    /// # Errors
    ///
    /// A fault of the store.
    async fn organisations(
        &self,
        after: Option<OrganisationId>,
        most: u32,
    ) -> Result<Vec<OrganisationId>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_the_same_where_permissions_roles_and_claims_are() {
        let person = |permissions: &[&str]| {
            let organisation = OrganisationId(Uuid::from_u128(1));
            let permissions = permissions.iter().copied().collect();
            Principal::user(UserId(Uuid::from_u128(2)), "Ann", organisation, permissions)
        };
        let one = person(&["A", "B"]).with_roles(["buyer"]);
        assert_eq!(one.rights(), person(&["B", "A"]).with_roles(["buyer"]).rights());
        let claims = BTreeMap::from([("region".to_owned(), vec!["north".to_owned()])]);
        for other in [
            person(&["A"]).with_roles(["buyer"]),
            person(&["A", "B"]),
            one.clone().with_claims(claims),
            Principal::system(),
        ] {
            assert_ne!(one.rights(), other.rights());
        }
    }

    #[test]
    fn a_key_never_does_more_than_its_person() {
        let person = Principal::user(
            UserId(Uuid::nil()),
            "Ada",
            OrganisationId(Uuid::nil()),
            PermissionSet::from_iter(["Products.View"]),
        );
        let scope = ["Products.View", "Products.Update"].map(String::from).into();
        let key = person.through_api_key(&scope);
        assert!(key.can("Products.View"));
        let refusal = key.require("Products.Update").unwrap_err();
        assert_eq!(refusal.to_string(), "this needs the permission `Products.Update`");
    }

    #[test]
    fn who_is_entrusted_with_everything_keeps_the_rights_of_its_own() {
        let organisation = OrganisationId(Uuid::nil());
        let permissions = PermissionSet::from_iter(["Products.View"]);
        let person = Principal::user(UserId(Uuid::nil()), "Ada", organisation, permissions);
        let key = person.through_api_key(&["Products.View".to_owned()].into());
        let entrusted = key.entrusted().entrusted();
        assert!(entrusted.can("Products.Update"));
        assert_eq!(entrusted.kind(), PrincipalKind::ApiKey);
        assert_eq!((entrusted.own(), key.own()), (&key, &key));
    }

    #[test]
    fn a_role_is_known_by_its_name_and_no_scope_gives_it() {
        let organisation = OrganisationId(Uuid::nil());
        let permissions = PermissionSet::from_iter(["Products.View"]);
        let person = Principal::user(UserId(Uuid::nil()), "Ada", organisation, permissions);
        assert!(!person.has_role("Buyers"));
        let person = person.with_roles(["Buyers", "Prüfer"]);
        assert!(
            person.has_role("buyers") && person.has_role("PRÜFER") && !person.has_role("Buyer")
        );
        assert_eq!(person.roles().collect::<Vec<_>>(), ["buyers", "prüfer"]);
        let key = person.through_api_key(&["Products.View".to_owned()].into());
        assert!(key.can("Products.View") && !key.has_role("Buyers"));
        assert!(!Principal::system_in(organisation).has_role("Buyers"));
    }
}
