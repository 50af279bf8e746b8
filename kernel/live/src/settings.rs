use std::time::Duration;

svc_core::settings_section! {
    /// Live pages.
    pub struct LiveSettings in "Svc:Live" {
        /// The most streams of one person in an organisation.
        pub person_streams: u32 = 8, within(1..=1_000);
        /// How long a stream lives; browsers then begin another, behind what they have seen.
        pub stream_life: Duration = minutes(10), within(seconds(1)..=hours(24));
        /// How long a stream is silent at most. Then it says that it is there, so that nothing between
        /// takes it for dead, or ends with what it began with. The web client takes a stream for dead
        /// that is silent for twice the longest of these.
        pub heartbeat: Duration = seconds(15), within(seconds(1)..=seconds(20));
        /// How long what happened is kept for those who come again.
        pub retention: Duration = minutes(10), within(minutes(1)..=hours(24));
    }
}
