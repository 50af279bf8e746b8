use std::time::Duration;

svc_core::settings_section! {
    /// Live pages.
    pub struct LiveSettings in "Svc:Live" {
        /// The most streams of one person in an organisation.
        pub person_streams: u32 = 8, within(1..=1_000);
        /// How long a stream lives; browsers then begin another, behind what they have seen.
        pub stream_life: Duration = minutes(10), within(seconds(1)..=hours(24));
        /// How long what happened is kept for those who come again.
        pub retention: Duration = minutes(10), within(minutes(1)..=hours(24));
    }
}
