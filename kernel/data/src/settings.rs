use std::time::Duration;

svc_core::settings_section! {
    /// What is kept of records that are gone.
    pub struct DataSettings in "Svc:Data" {
        /// How long the last version of each removed record is kept. A record that is made again under its key goes on
        /// counting from there, and after this time from the highest version that any removed record of its table had.
        pub removed_versions_retention: Duration = days(30), within(hours(1)..=days(3_650));
    }
}
