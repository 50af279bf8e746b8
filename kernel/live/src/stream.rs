//! One stream of a person.
//!
//! | State | Left when | For |
//! | --- | --- | --- |
//! | looking | something is behind its number, or a job stands elsewhere | sending |
//! | looking | nothing is | waiting |
//! | sending | the client has taken it | looking |
//! | waiting | something happened, a job changed, or it was silent for `Svc:Live:Heartbeat` | looking |
//! | any | its life is over, what the person came with opens nothing any more, the server stops | ended |
//!
//! Whoever looks and has something to send asks first what the person may see now; one that was silent asks too, so that a stream
//! ends with what it began with though nothing happens.
//!
//! Nothing is read ahead of the client: the next piece is made when the one before was taken.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use svc_core::{ErrorKind, Result};
use svc_data::{Context, EntityModel, Record};
use svc_events::RecordChange;
use svc_http::Presented;
use svc_jobs::{JobId, Jobs};
use svc_sets::Sets;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::log::{Entry, Happening};
use crate::node::{Live, Place};
use crate::tell::LiveTold;
use crate::topics::Wanted;

/// Who hears a stream.
pub(crate) struct Hearer {
    /// As the stream began.
    pub(crate) ctx: Context,
    /// The key, token or session that it began with.
    pub(crate) presented: Presented,
}

impl Hearer {
    /// The person with the rights that hold now, by what the stream began with; none where that opens
    /// nothing any more, or the session is of another organisation by now.
    async fn now(&self) -> Result<Option<Context>> {
        let before = self.ctx.principal();
        let now = self.presented.principal().await?.filter(|now| {
            now.user_id() == before.user_id() && now.organisation() == before.organisation()
        });
        Ok(now.map(|now| self.ctx.acting_as(Arc::new(now))))
    }
}

/// A stream that is being sent.
pub(crate) struct Stream {
    live: Arc<Live>,
    hearer: Hearer,
    wanted: Wanted,
    /// All up to this number was looked at, and sent where it was for this person.
    position: i64,
    /// What was last sent of each job.
    jobs: BTreeMap<JobId, Json>,
    jobs_due: bool,
    /// Whether it was silent for so long that it says where it is.
    heartbeat_due: bool,
    /// When it last said anything.
    silent_since: Instant,
    happened: watch::Receiver<i64>,
    progressed: watch::Receiver<u64>,
    pieces: VecDeque<String>,
    ends: Instant,
    draining: CancellationToken,
    is_over: bool,
    _place: Place,
}

/// A change of a record, as a person may see it.
#[derive(Serialize)]
struct Changed<'a> {
    set: &'a str,
    key: &'a Json,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<Map<String, Json>>,
}

impl Stream {
    /// A stream behind a number, or from now on.
    pub(crate) fn new(
        live: Arc<Live>,
        hearer: Hearer,
        wanted: Wanted,
        after: Option<i64>,
        place: Place,
        draining: CancellationToken,
    ) -> Self {
        let happened = live.newest();
        let newest = *happened.borrow();
        // A number that is yet to come is another database's.
        let is_foreign = after.is_some_and(|after| after > newest);
        let position = after.filter(|_| !is_foreign).unwrap_or(newest);
        let mut pieces = VecDeque::from([format!("retry: 2000\nid: {position}\n\n")]);
        if is_foreign {
            pieces.push_back(reset(position));
        }
        Self {
            jobs_due: !wanted.jobs.is_empty(),
            heartbeat_due: false,
            silent_since: Instant::now(),
            progressed: live.jobs(),
            ends: Instant::now() + live.settings.stream_life,
            live,
            hearer,
            wanted,
            position,
            jobs: BTreeMap::new(),
            happened,
            pieces,
            draining,
            is_over: false,
            _place: place,
        }
    }

    /// The next piece; none at the end.
    pub(crate) async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(piece) = self.pieces.pop_front() {
                self.silent_since = Instant::now();
                return Some(piece);
            }
            if self.is_over || self.ends <= Instant::now() {
                return None;
            }
            match self.look().await {
                Ok(true) => {}
                Ok(false) => self.wait().await,
                Err(error) => {
                    // The browser comes again, and begins where this has ended.
                    tracing::warn!(error = error.report(), "a live stream was broken off");
                    return None;
                }
            }
        }
    }

    /// Looks what there is to send; whether there was anything to look at.
    async fn look(&mut self) -> Result<bool> {
        let batch = self.live.after(self.position).await?;
        let has_more = batch.upto > self.position;
        if !has_more && !self.jobs_due && !self.heartbeat_due {
            return Ok(false);
        }
        let Some(ctx) = self.hearer.now().await? else {
            self.is_over = true;
            return Ok(true);
        };
        if batch.has_gap {
            self.pieces.push_back(reset(batch.upto));
        } else {
            for entry in &batch.entries {
                self.add(&ctx, entry).await?;
            }
        }
        self.position = batch.upto;
        if self.jobs_due {
            self.jobs_due = false;
            self.look_at_jobs(&ctx).await?;
        }
        if self.heartbeat_due {
            self.heartbeat_due = false;
            // The number of what was looked at goes along with no event, so that a browser comes again from there.
            self.pieces.push_back(format!("id: {}\n\n", self.position));
        }
        Ok(true)
    }

    async fn add(&mut self, ctx: &Context, entry: &Entry) -> Result<()> {
        let own = ctx.principal().organisation();
        if entry.organisation.is_some() && entry.organisation != own {
            return Ok(());
        }
        let piece = match &entry.happening {
            Happening::Change(change) if self.wanted.sets.contains(&change.set) => {
                changed(ctx, change).await?.map(|data| ("changed", data))
            }
            Happening::Told(told) if self.wanted.has(&told.topic, &told.key) => {
                let topic = self.live.declared.get(told.topic.as_str());
                let is_heard = match topic {
                    Some(topic) => topic.may_hear(ctx, &told.key).await?,
                    None => false,
                };
                let LiveTold { topic, key, data } = told;
                is_heard.then(|| ("told", json!({ "topic": topic, "key": key, "data": data })))
            }
            Happening::Change(_) | Happening::Told(_) => None,
        };
        if let Some((event, data)) = piece {
            self.pieces.push_back(written(event, Some(entry.position), &data));
        }
        Ok(())
    }

    async fn look_at_jobs(&mut self, ctx: &Context) -> Result<()> {
        let jobs = ctx.app().service::<Jobs>()?;
        for id in self.wanted.jobs.clone() {
            let state = match jobs.status(ctx, id).await {
                Ok(job) => json!({
                    "id": id.0,
                    "state": job.state.as_str(),
                    "cancelRequested": job.cancel_requested,
                    "progress": job.progress.percent,
                    "message": job.progress.message,
                    "attempts": job.attempts,
                    "lastError": job.last_error,
                }),
                // One that nobody watches is gone when it has finished; one of somebody else was never there.
                Err(error)
                    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden) =>
                {
                    json!({ "id": id.0, "state": "unknown" })
                }
                Err(error) => return Err(error),
            };
            if self.jobs.get(&id) != Some(&state) {
                self.pieces.push_back(written("job", None, &state));
                self.jobs.insert(id, state);
            }
        }
        Ok(())
    }

    async fn wait(&mut self) {
        let hears_jobs = !self.wanted.jobs.is_empty();
        // What others hear of doesn't count: nothing of it reaches this stream.
        let heartbeat = self.silent_since + self.live.settings.heartbeat;
        tokio::select! {
            () = tokio::time::sleep_until(self.ends.min(heartbeat)) => {
                self.jobs_due = hears_jobs;
                self.heartbeat_due = true;
            }
            _ = self.happened.changed() => {}
            _ = self.progressed.changed(), if hears_jobs => self.jobs_due = true,
            () = self.draining.cancelled() => self.is_over = true,
        }
    }
}

/// A change as the person of a context may see it; none that the person can't.
async fn changed(ctx: &Context, change: &RecordChange) -> Result<Option<Json>> {
    let sets = ctx.app().service::<Sets>()?;
    let model = change.model(ctx.catalogue())?;
    let after = seen(ctx, &sets, model, change.record_after(model)?).await?;
    let was_seen = match &after {
        Some(_) if change.before.is_none() => false,
        _ => seen(ctx, &sets, model, change.record_before(model)?).await?.is_some(),
    };
    let kind = match (was_seen, &after) {
        (false, None) => return Ok(None),
        (false, Some(_)) => "created",
        (true, Some(_)) => "updated",
        (true, None) => "deleted",
    };
    let changed = Changed { set: &change.set, key: &change.key, kind, record: after };
    Ok(serde_json::to_value(changed).ok())
}

/// A record as the person of a context may see it; none where the person can't, or there is none.
async fn seen(
    ctx: &Context,
    sets: &Sets,
    model: &EntityModel,
    record: Option<Record>,
) -> Result<Option<Map<String, Json>>> {
    match record {
        Some(record) => sets.read_image(ctx, model, &record).await,
        None => Ok(None),
    }
}

/// An event of the stream. JSON has no line breaks of its own.
fn written(event: &str, id: Option<i64>, data: &Json) -> String {
    let mut text = String::new();
    // Writing to a `String` never fails.
    let _ = match id {
        Some(id) => write!(text, "id: {id}\nevent: {event}\ndata: {data}\n\n"),
        None => write!(text, "event: {event}\ndata: {data}\n\n"),
    };
    text
}

fn reset(position: i64) -> String {
    written("reset", Some(position), &json!({}))
}
