--TEST--
Numbers out of range are a ValueError that names the argument; the largest allowed ones work
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$calls = [
    fn () => askr_queue_push('q', 'x', -1),
    fn () => askr_queue_push('q', 'x', PHP_INT_MAX),
    fn () => askr_queue_push('q', 'x', max_attempts: 0),
    fn () => askr_queue_push_many('q', ['x'], PHP_INT_MIN),
    fn () => askr_queue_push_many('q', ['x'], max_attempts: -1),
    fn () => askr_queue_pop('q', -1),
    fn () => askr_queue_pop('q', PHP_INT_MAX),
    fn () => askr_queue_pop('q', 60, -0.1),
    fn () => askr_queue_pop('q', 60, NAN),
    fn () => askr_queue_pop('q', 60, -INF),
    fn () => askr_queue_release(1, -1),
    fn () => askr_queue_release(1, PHP_INT_MAX),
    fn () => askr_queue_renew(1, -1),
    fn () => askr_queue_renew(1, PHP_INT_MAX),
    fn () => askr_heartbeat_start(1, 1, 1),
    fn () => askr_heartbeat_start(1, PHP_INT_MAX, 1),
    fn () => askr_queue_list('q', 'pending', -1),
    fn () => askr_queue_list('q', 'pending', 1, -1),
    fn () => askr_queue_list('q', 'ready'),
    fn () => askr_failed_list(-1),
    fn () => askr_failed_list(1, -1),
    fn () => askr_failed_retry(1, 0),
    fn () => askr_failed_flush(-1),
    fn () => askr_failed_flush(PHP_INT_MAX),
];
array_map('attempt', $calls);
var_dump(askr_queue_names());

$most = intdiv(PHP_INT_MAX, 2);
$far = askr_queue_push('q', 'x', $most, PHP_INT_MIN, PHP_INT_MAX);
var_dump(askr_queue_list('q', 'delayed')[0]['available_at'] > $most);
$id = askr_queue_push('q', 'y', 0, PHP_INT_MAX);
var_dump(askr_queue_pop('q', $most)['id'] === $id, askr_queue_renew($id, $most), askr_queue_release($id, $most));
var_dump(askr_queue_release($far), askr_queue_pop('q', 0, 0.0)['max_attempts'] === PHP_INT_MAX);
var_dump(askr_queue_list('q', 'pending', PHP_INT_MAX, PHP_INT_MAX), askr_failed_list(PHP_INT_MAX), askr_failed_flush($most));
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
ValueError: askr_queue_push(): Argument #3 ($delay) must be between 0 and 4611686018427387903, -1 given
ValueError: askr_queue_push(): Argument #3 ($delay) must be between 0 and 4611686018427387903, 9223372036854775807 given
ValueError: askr_queue_push(): Argument #5 ($max_attempts) must be 1 or more, 0 given
ValueError: askr_queue_push_many(): Argument #3 ($delay) must be between 0 and 4611686018427387903, -9223372036854775808 given
ValueError: askr_queue_push_many(): Argument #5 ($max_attempts) must be 1 or more, -1 given
ValueError: askr_queue_pop(): Argument #2 ($visibility) must be between 0 and 4611686018427387903, -1 given
ValueError: askr_queue_pop(): Argument #2 ($visibility) must be between 0 and 4611686018427387903, 9223372036854775807 given
ValueError: askr_queue_pop(): Argument #3 ($wait) must be a number of seconds, 0 or more
ValueError: askr_queue_pop(): Argument #3 ($wait) must be a number of seconds, 0 or more
ValueError: askr_queue_pop(): Argument #3 ($wait) must be a number of seconds, 0 or more
ValueError: askr_queue_release(): Argument #2 ($delay) must be between 0 and 4611686018427387903, -1 given
ValueError: askr_queue_release(): Argument #2 ($delay) must be between 0 and 4611686018427387903, 9223372036854775807 given
ValueError: askr_queue_renew(): Argument #2 ($visibility) must be between 0 and 4611686018427387903, -1 given
ValueError: askr_queue_renew(): Argument #2 ($visibility) must be between 0 and 4611686018427387903, 9223372036854775807 given
ValueError: askr_heartbeat_start(): Argument #2 ($visibility) must be between 2 and 4611686018427387903, 1 given
ValueError: askr_heartbeat_start(): Argument #2 ($visibility) must be between 2 and 4611686018427387903, 9223372036854775807 given
ValueError: askr_queue_list(): Argument #3 ($limit) must be 0 or more, -1 given
ValueError: askr_queue_list(): Argument #4 ($offset) must be 0 or more, -1 given
ValueError: askr_queue_list(): Argument #2 ($state) must be "pending", "delayed" or "reserved"
ValueError: askr_failed_list(): Argument #1 ($limit) must be 0 or more, -1 given
ValueError: askr_failed_list(): Argument #2 ($offset) must be 0 or more, -1 given
ValueError: askr_failed_retry(): Argument #2 ($max_attempts) must be 1 or more, 0 given
ValueError: askr_failed_flush(): Argument #1 ($older_than) must be between 0 and 4611686018427387903, -1 given
ValueError: askr_failed_flush(): Argument #1 ($older_than) must be between 0 and 4611686018427387903, 9223372036854775807 given
array(0) {
}
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
array(0) {
}
array(0) {
}
int(0)
