//! `askr_info()` and the section of `phpinfo()`. Neither opens anything.

use ext_php_rs::builders::FunctionBuilder;
use ext_php_rs::flags::DataType::Array;
use ext_php_rs::types::Zval;
use ext_php_rs::zend::{ExecuteData, ModuleEntry};
use ext_php_rs::{info_table_end, info_table_header, info_table_row, info_table_start};

use super::function::{call, declare};
use super::result::Record;
use super::{ini, zend};
use crate::config::{ALL, QUEUE_DB};
use crate::sqlite::{contracts, library_version};

pub(super) fn functions() -> Vec<FunctionBuilder<'static>> {
    vec![declare("askr_info", info).returns(Array)]
}

/// The tier that a subsystem's database setting chooses, and its path.
fn tier() -> (&'static str, String) {
    let database = ini::given(&QUEUE_DB).value;
    (if database.is_empty() { "L1" } else { "L2" }, database)
}

extern "C" fn info(ex: &mut ExecuteData, ret: &mut Zval) {
    call(ex, ret, 0..=0, |_, ret| {
        let (tier, path) = tier();
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
            .record("queue", Record::new().bytes("tier", tier.as_bytes()).bytes("path", path.as_bytes()))
            .bytes("sqlite_version", library_version().as_bytes())
            .record("settings", settings)
            .into_zval();
        Ok(())
    });
}

/// Prints the section of `phpinfo()` and `php --ri askr`.
pub(super) unsafe extern "C" fn print(module: *mut ModuleEntry) {
    let (tier, path) = tier();
    let queue = match tier {
        "L2" => format!("L2 (SQLite), {}", path.replace('\0', "\\0")),
        _ => "L1 (shared memory): not in this version, set askr.queue_db".to_owned(),
    };
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
