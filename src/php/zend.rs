//! What PHP exports and `ext-php-rs` does not bind. The signatures are those of PHP 8.2 to 8.5.

use std::ffi::{c_char, c_int};

use ext_php_rs::types::Zval;
use ext_php_rs::zend::{ClassEntry, ModuleEntry};

/// `zend_result`'s SUCCESS.
pub(super) const SUCCESS: c_int = 0;

unsafe extern "C" {
    /// Parses one argument by the letters of `zend_parse_parameters`, and throws PHP's own `TypeError`.
    pub(super) fn zend_parse_parameter(
        flags: c_int,
        number: u32,
        argument: *mut Zval,
        letters: *const c_char,
        ...
    ) -> c_int;
    pub(super) fn zend_wrong_parameters_count_error(least: u32, most: u32);
    pub(super) fn zend_argument_value_error(number: u32, format: *const c_char, ...);
    pub(super) fn zend_argument_type_error(number: u32, format: *const c_char, ...);
    pub(super) fn zend_zval_type_name(value: *const Zval) -> *const c_char;
    pub(super) fn zend_unregister_ini_entries(module: c_int);
    pub(super) fn cfg_get_entry(name: *const c_char, length: usize) -> *mut Zval;
    pub(super) fn php_check_open_basedir_ex(path: *const c_char, warn: c_int) -> c_int;
    pub(super) fn display_ini_entries(module: *mut ModuleEntry);
    pub(super) static spl_ce_RuntimeException: *mut ClassEntry;
}
