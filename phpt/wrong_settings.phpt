--TEST--
A wrong setting is an exception at use that says what to give; the next call with a right one works
--FILE--
<?php
require __DIR__ . '/askr.inc';
$path = fresh_database();

foreach (['-1', 'abc', '99999999G', '', '1.5'] as $value) {
    ini_set('askr.busy_timeout', $value);
    attempt(fn () => askr_queue_push('q', 'x'));
}
ini_set('askr.busy_timeout', '0');
attempt(fn () => askr_queue_push('q', 'x'));
ini_set('askr.busy_timeout', '3600000');
attempt(fn () => askr_queue_push('q', 'x'));

foreach (['-1', 'abc', '99999999G', "{$path}\0.hidden"] as $value) {
    ini_set('askr.queue_db', $value);
    attempt(fn () => askr_queue_push('q', 'x'));
}
// Only php.ini and the like may weaken what a commit survives.
var_dump(ini_set('askr.queue_synchronous', 'normal'), ini_get('askr.queue_synchronous'));
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECTF--
Askr\UnavailableException: the setting askr.busy_timeout is "-1". Give whole milliseconds from 0 to 3600000
Askr\UnavailableException: the setting askr.busy_timeout is "abc". Give whole milliseconds from 0 to 3600000
Askr\UnavailableException: the setting askr.busy_timeout is "99999999G". Give whole milliseconds from 0 to 3600000
Askr\UnavailableException: the setting askr.busy_timeout is "". Give whole milliseconds from 0 to 3600000
Askr\UnavailableException: the setting askr.busy_timeout is "1.5". Give whole milliseconds from 0 to 3600000
no exception, answer: 1
no exception, answer: 2
Askr\UnavailableException: open the queue: the database's path is relative (-1). Every process would take it from its own working directory: give an absolute path
Askr\UnavailableException: open the queue: the database's path is relative (abc). Every process would take it from its own working directory: give an absolute path
Askr\UnavailableException: open the queue: the database's path is relative (99999999G). Every process would take it from its own working directory: give an absolute path
Askr\UnavailableException: open the queue: the database cannot be created or written as user %d: file name contained an unexpected NUL byte ({folder}/queue.db\0.hidden). Give the folder and the file to the user that PHP runs as
bool(false)
string(4) "full"
