//! Which endpoints want an event by their filters.
//!
//! An event may have a thousand endpoints, whose filters are judged in the transaction that others wait for. So one
//! filter is judged once for an owner, who sees the same whatever is told, however many endpoints have it; and the
//! node does something else between a number of them.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::filter::{Filter, Seen};
use crate::owner::Owner;
use crate::store::subscribers::Subscriber;

/// Filters that are judged until the node does something else.
const AT_ONCE: usize = 32;

/// What the filters say of one event.
#[derive(Default)]
pub(super) struct Judged {
    /// By owner, and where the filter is in memory: equal ones are read once.
    verdicts: HashMap<(Owner, usize), bool>,
}

impl Judged {
    /// Keeps those of an owner's endpoints that want the event, of which the owner sees this.
    pub(super) async fn retain(
        &mut self,
        owner: Owner,
        data: Option<&Json>,
        subscribers: &mut Vec<&Subscriber>,
    ) {
        let key = |filter: &Arc<Filter>| (owner, Arc::as_ptr(filter).addr());
        let unjudged: HashMap<(Owner, usize), &Filter> = subscribers
            .iter()
            .filter_map(|one| one.filter.as_ref())
            .map(|filter| (key(filter), &**filter))
            .filter(|(key, _)| !self.verdicts.contains_key(key))
            .collect();
        let mut seen = data.map(Seen::new);
        for (number, (key, filter)) in unjudged.into_iter().enumerate() {
            let is_wanted = seen.as_mut().is_some_and(|seen| filter.lets_through(seen));
            self.verdicts.insert(key, is_wanted);
            if number % AT_ONCE == AT_ONCE - 1 {
                tokio::task::yield_now().await;
            }
        }
        subscribers.retain(|one| {
            let filter = one.filter.as_ref();
            filter.is_none_or(|filter| self.verdicts.get(&key(filter)).copied().unwrap_or_default())
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use svc_core::{OrganisationId, UserId};
    use uuid::Uuid;

    use super::*;
    use crate::model::{Detail, Format};

    #[tokio::test]
    async fn a_filter_is_judged_once_for_an_owner_however_many_endpoints_have_it() {
        let owner = |user| Owner {
            organisation: OrganisationId(Uuid::nil()),
            user: UserId(Uuid::from_u128(user)),
            key: None,
        };
        let read = |text| Some(Arc::new(Filter::read(text)));
        let (cheap, dear) = (read("price lt 10"), read("price gt 10"));
        let subscriber = |filter: &Option<Arc<Filter>>| Subscriber {
            endpoint: Uuid::nil(),
            owner: owner(1),
            is_active: true,
            is_known_gone: false,
            created_us: 0,
            detail: Detail { includes_changes: false, is_thin: false, format: Format::Standard },
            filter: filter.clone(),
            is_ordered: false,
            has_pace: false,
            version: 1,
        };
        let all: Vec<Subscriber> =
            [&cheap, &dear, &None].into_iter().cycle().take(300).map(subscriber).collect();
        let mut judged = Judged::default();
        for (user, data, expected) in [
            (1, Some(json!({"price": 5})), 200),
            (1, None, 200),
            (2, Some(json!({"price": 5})), 200),
            (3, Some(json!({"price": 10})), 100),
            (4, None, 100),
        ] {
            let mut left: Vec<&Subscriber> = all.iter().collect();
            judged.retain(owner(user), data.as_ref(), &mut left).await;
            assert_eq!(left.len(), expected, "{user}");
        }
        assert_eq!(judged.verdicts.len(), 8, "two filters for each of four owners");
    }
}
