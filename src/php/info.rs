//! `askr_info()` and the section of `phpinfo()`. The latter opens nothing.

use std::os::unix::ffi::OsStrExt;

use ext_php_rs::builders::FunctionBuilder;
use ext_php_rs::flags::DataType::Array;
use ext_php_rs::types::Zval;
use ext_php_rs::zend::{ExecuteData, ModuleEntry};
use ext_php_rs::{info_table_end, info_table_header, info_table_row, info_table_start};

use super::function::{call, declare};
use super::result::Record;
use super::stores::with_queue;
use super::{ini, zend};
use crate::config::{ALL, Place, QueueSettings};
use crate::sqlite::{contracts, library_version};

pub(super) fn functions() -> Vec<FunctionBuilder<'static>> {
    vec![declare("askr_info", info).returns(Array)]
}

extern "C" fn info(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 0..=0, |_, ret| {
        // A store that cannot be opened is shown with the reason, for that is when one looks.
        let usage = with_queue(|open| open.queue()?.usage());
        let queue = queue().map_or_else(
            |e| Record::new().bytes("error", e.as_bytes()),
            |place| {
                let (tier, path) = place.tier();
                Record::new().bytes("tier", tier.as_bytes()).bytes("path", path.as_os_str().as_bytes())
            },
        );
        let queue = match usage {
            Ok(usage) => queue
                .int("size", number(usage.size))
                .int("used", number(usage.size - usage.free))
                .int("free", number(usage.free))
                .nullable_int("largest_free", usage.largest_free.map(number))
                .int("repairs", number(usage.repairs))
                .int("waiters", number(usage.waiters)),
            Err(error) => queue.bytes("error", error.to_string().as_bytes()),
        };
        let settings = ALL.iter().fold(Record::new(), |record, setting| {
            let given = ini::given(setting);
            let shown = Record::new()
                .bytes("value", given.value.as_bytes())
                .bytes("source", given.origin.name().as_bytes());
            record.record(setting.name(), shown)
        });
        *ret = Record::new()
            .bytes("version", crate::VERSION.as_bytes())
            .record("contracts", Record::new().int("queue", contracts::queue::VERSION.into()))
            .record("queue", queue)
            .bytes("sqlite_version", library_version().as_bytes())
            .record("settings", settings)
            .into_zval();
        Ok(())
    });
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Where the settings put the queue, or what is wrong with them.
fn queue() -> Result<Place, String> {
    QueueSettings::read(ini::given).map(|settings| settings.place).map_err(|e| e.to_string())
}

/// Prints the section of `phpinfo()` and `php --ri askr`.
pub(super) unsafe extern "C" fn print(module: *mut ModuleEntry) {
    let queue = queue().map_or_else(
        |e| e,
        |place| {
            let (tier, path) = place.tier();
            let kept = if tier == "L1" { "shared memory" } else { "SQLite" };
            format!("{tier} ({kept}), {}", path.display())
        },
    );
    let queue = queue.replace('\0', "\\0");
    info_table_start!();
    info_table_header!("askr", "enabled");
    info_table_row!("Version", crate::VERSION);
    info_table_row!("Queue", queue);
    info_table_row!("Queue contract", contracts::queue::VERSION.to_string());
    info_table_row!("SQLite", library_version());
    info_table_end!();
    // SAFETY: the module that PHP asks about.
    unsafe { zend::display_ini_entries(module) };
}
