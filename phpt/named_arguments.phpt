--TEST--
Named arguments, also when optional ones before them are left out
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$id = askr_queue_push(payload: 'a', queue: 'q', max_attempts: 3);
askr_queue_push_many('q', ['b'], priority: -5);
$job = askr_queue_pop('q', wait: 0.1);
var_dump($job['payload'], $job['max_attempts'], $job['reserved_until'] - time() > 30);
var_dump(askr_queue_renew($id, attempts: 1), askr_queue_renew(attempts: 2, id: $id));
var_dump(askr_queue_release($id, attempts: 1), askr_queue_pop('q')['attempts']);
var_dump(askr_heartbeat_start($id, attempts: 2), askr_heartbeat_stop(id: $id));
var_dump(askr_queue_fail($id, exception: 'because'));
var_dump(count(askr_queue_list('q', state: 'pending', offset: 0)), askr_failed_list(queue: 'q')[0]['exception']);
var_dump(askr_failed_retry(askr_failed_list(offset: 0)[0]['id'], priority: 9) > 0);
var_dump(askr_queue_list('q', 'pending', offset: 1)[0]['priority'], askr_failed_flush(older_than: 0));
attempt(fn () => askr_queue_push('q', 'x', nonsense: 1));
attempt(fn () => askr_queue_push(payload: 'x'));
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
string(1) "a"
int(3)
bool(true)
bool(true)
bool(false)
bool(true)
int(2)
bool(true)
bool(true)
bool(true)
int(1)
string(7) "because"
bool(true)
int(9)
int(0)
Error: Unknown named parameter $nonsense
ArgumentCountError: askr_queue_push(): Argument #1 ($queue) not passed
