//! Who acts in a test: anyone, with any permissions, without accounts.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use http::header::AUTHORIZATION;
use http::request::Parts;
use parking_lot::{Mutex, MutexGuard};
use svc_core::{
    App, Directory, Error, KnownRole, Means, Member, Module, OrganisationId, PermissionSet,
    Principal, Registry, Result, UserId,
};
use svc_http::{Authenticator, HttpRegistry as _};
use uuid::Uuid;

/// What a test's credential begins with.
const CREDENTIAL: &str = "Bearer test-";

/// The organisation of this number; tests use a few, and the same number is the same one.
#[must_use]
pub fn organisation(number: u128) -> OrganisationId {
    OrganisationId(Uuid::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0000 + number))
}

/// A person in a test.
#[derive(Clone, Debug)]
pub struct Person {
    name: String,
    organisation: OrganisationId,
    permissions: Option<Vec<String>>,
    scope: Option<BTreeSet<String>>,
    roles: Vec<String>,
    claims: Vec<(String, Vec<String>)>,
}

impl Person {
    /// A person of the first organisation who may do everything. The name tells people apart.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            organisation: organisation(1),
            permissions: None,
            scope: None,
            roles: Vec::new(),
            claims: Vec::new(),
        }
    }

    /// The same person in another organisation.
    #[must_use]
    pub fn of(self, organisation: OrganisationId) -> Self {
        Self { organisation, ..self }
    }

    /// The same person with these permissions and no others.
    #[must_use]
    pub fn who_may(self, permissions: &[&str]) -> Self {
        let permissions = permissions.iter().map(ToString::to_string).collect();
        Self { permissions: Some(permissions), ..self }
    }

    /// The same person through an API key that is limited to these permissions.
    #[must_use]
    pub fn through_key(self, scope: &[&str]) -> Self {
        let scope = scope.iter().map(ToString::to_string).collect();
        Self { scope: Some(scope), ..self }
    }

    /// The same person with these roles of the organisation.
    #[must_use]
    pub fn in_roles(self, names: &[&str]) -> Self {
        Self { roles: names.iter().map(ToString::to_string).collect(), ..self }
    }

    /// The same person with a claim, for row filters.
    #[must_use]
    pub fn with_claim(mut self, name: &str, values: &[&str]) -> Self {
        self.claims.push((name.to_owned(), values.iter().map(ToString::to_string).collect()));
        self
    }

    /// The person's identifier, made of the name.
    #[must_use]
    pub fn id(&self) -> UserId {
        let letters =
            self.name.bytes().take(8).fold(0_u128, |id, byte| (id << 8) | u128::from(byte));
        UserId(Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0000 + letters))
    }

    /// The principal that the person is.
    #[must_use]
    pub fn principal(&self) -> Principal {
        let permissions = match &self.permissions {
            Some(names) => PermissionSet::from_iter(names),
            None => PermissionSet::everything(),
        };
        let name = self.name.as_str();
        let person = Principal::user(self.id(), name, self.organisation, permissions)
            .with_roles(&self.roles)
            .with_claims(self.claims.iter().cloned().collect());
        match &self.scope {
            Some(scope) => person.through_api_key(scope),
            None => person,
        }
    }
}

/// Those whom the application knows: the accounts of a test.
#[derive(Clone, Default)]
pub(crate) struct People {
    known: Arc<Mutex<HashMap<(UserId, OrganisationId), Principal>>>,
    keys: Arc<Mutex<HashMap<Uuid, Key>>>,
}

/// An API key: whose it is, and what it may at most.
#[derive(Clone)]
struct Key {
    user: UserId,
    organisation: OrganisationId,
    scope: BTreeSet<String>,
}

impl People {
    fn known(&self) -> MutexGuard<'_, HashMap<(UserId, OrganisationId), Principal>> {
        self.known.lock()
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<Uuid, Key>> {
        self.keys.lock()
    }

    /// Makes a person known, or changes what is known; answers with the credential.
    pub(crate) fn admit(&self, person: &Person) -> String {
        let principal = person.principal();
        self.known().insert((person.id(), person.organisation), principal);
        format!("{CREDENTIAL}{}.{}", person.id(), person.organisation)
    }

    /// Makes an API key of a person's known; answers with the credential.
    pub(crate) fn admit_key(&self, person: &Person, key: Uuid, scope: &[&str]) -> String {
        self.admit(person);
        let scope = scope.iter().map(ToString::to_string).collect();
        let Person { organisation, .. } = *person;
        self.keys().insert(key, Key { user: person.id(), organisation, scope });
        format!("{CREDENTIAL}{}.{organisation}.{key}", person.id())
    }

    /// Forgets a key, as if it had been revoked.
    pub(crate) fn revoke(&self, key: Uuid) {
        self.keys().remove(&key);
    }

    fn through(&self, user: UserId, organisation: OrganisationId, key: Uuid) -> Option<Principal> {
        let Key { scope, .. } = self
            .keys()
            .get(&key)
            .cloned()
            .filter(|key| key.user == user && key.organisation == organisation)?;
        let person = self.known().get(&(user, organisation)).cloned()?;
        Some(person.through_api_key(&scope).known_by(Means::ApiKey(key)))
    }

    /// Forgets a person, as if the account had been disabled.
    pub(crate) fn dismiss(&self, person: &Person) {
        self.known().remove(&(person.id(), person.organisation));
    }
}

#[async_trait]
impl Directory for People {
    async fn principal(
        &self,
        user: UserId,
        organisation: OrganisationId,
    ) -> Result<Option<Principal>> {
        Ok(self.known().get(&(user, organisation)).cloned())
    }

    async fn principal_through(
        &self,
        user: UserId,
        organisation: OrganisationId,
        key: Uuid,
    ) -> Result<Option<Principal>> {
        Ok(self.through(user, organisation, key))
    }

    async fn members(
        &self,
        organisation: OrganisationId,
        named: &str,
        most: u32,
    ) -> Result<Vec<Member>> {
        let named = named.to_lowercase();
        let known = self.known();
        let of_it = known.iter().filter(|((_, of), _)| *of == organisation);
        let mut members: Vec<Member> = of_it
            .map(|((id, _), who)| Member { id: *id, display_name: who.display_name().to_owned() })
            .filter(|member| member.display_name.to_lowercase().contains(&named))
            .collect();
        members.sort_by(|one, other| one.display_name.cmp(&other.display_name));
        members.truncate(most as usize);
        Ok(members)
    }

    async fn granted_in(
        &self,
        organisation: OrganisationId,
        permissions: &BTreeSet<String>,
    ) -> Result<Option<BTreeSet<String>>> {
        let known = self.known();
        let members = known.iter().filter(|((_, of), _)| *of == organisation);
        let granted = members.flat_map(|(_, principal)| principal.permissions().names());
        Ok(Some(granted.filter(|name| permissions.contains(*name)).map(str::to_owned).collect()))
    }

    async fn roles_in(&self, organisation: OrganisationId) -> Result<Option<Vec<KnownRole>>> {
        let known = self.known();
        let members = known.iter().filter(|((_, of), _)| *of == organisation);
        let names: BTreeSet<&str> = members.flat_map(|(_, principal)| principal.roles()).collect();
        let role = |name: &str| KnownRole { name: name.to_owned(), is_held: true };
        Ok(Some(names.into_iter().map(role).collect()))
    }

    async fn organisations(
        &self,
        after: Option<OrganisationId>,
        most: u32,
    ) -> Result<Vec<OrganisationId>> {
        let known: BTreeSet<Uuid> = self.known().keys().map(|(_, of)| of.0).collect();
        let later = known.into_iter().filter(|of| after.is_none_or(|after| *of > after.0));
        Ok(later.take(most as usize).map(OrganisationId).collect())
    }
}

#[async_trait]
impl Authenticator for People {
    async fn authenticate(&self, _: &App, request: &Parts) -> Result<Option<Principal>> {
        let credential = request.headers.get(AUTHORIZATION).and_then(|text| text.to_str().ok());
        let Some(names) = credential.and_then(|text| text.strip_prefix(CREDENTIAL)) else {
            return Ok(None);
        };
        let mut ids = names.split('.').map(Uuid::parse_str);
        let principal = match (ids.next(), ids.next(), ids.next()) {
            (Some(Ok(user)), Some(Ok(organisation)), None) => {
                self.known().get(&(UserId(user), OrganisationId(organisation))).cloned()
            }
            (Some(Ok(user)), Some(Ok(organisation)), Some(Ok(key))) => {
                self.through(UserId(user), OrganisationId(organisation), key)
            }
            _ => None,
        };
        principal.map(Some).ok_or_else(|| Error::unauthenticated("nobody is known by this name"))
    }
}

/// Knows the people of a test. It comes after all other modules, and is the directory only where
/// none of them is.
pub(crate) struct PeopleModule(pub(crate) People);

impl Module for PeopleModule {
    fn name(&self) -> std::borrow::Cow<'static, str> {
        "people-of-the-test".into()
    }

    fn configure(&self, registry: &mut Registry) {
        registry.authenticator(Arc::new(self.0.clone()));
        let people = self.0.clone();
        registry.on_build(async move |app| {
            if app.find_service::<dyn Directory>().is_none() {
                app.provide::<dyn Directory>(Arc::new(people));
            }
            Ok(())
        });
    }
}
