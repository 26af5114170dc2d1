--TEST--
askr_queue_push_many stores all of the jobs or none
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$payloads = ['x' => 'one', 5 => 'two', 'three'];
$reference = &$payloads[5];
$ids = askr_queue_push_many('q', $payloads, 0, -2, 4);
var_dump(array_is_list($ids), $ids[0] < $ids[1] && $ids[1] < $ids[2]);
foreach (askr_queue_list('q', 'pending') as $at => $job) {
    var_dump($job['id'] === $ids[$at]);
    echo "$job[payload], priority $job[priority], $job[max_attempts] attempts\n";
}

var_dump(askr_queue_push_many('q', []));
attempt(fn () => askr_queue_push_many('q', ['four', 5]));
attempt(fn () => askr_queue_push_many('q', ['four', null]));
attempt(fn () => askr_queue_push_many('q', ['four', ['five']]));
var_dump(askr_queue_size('q'));

$many = askr_queue_push_many('bulk', array_map('strval', range(1, 10_000)));
var_dump(count($many), askr_queue_size('bulk'), askr_queue_pop('bulk')['payload']);
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
bool(true)
bool(true)
bool(true)
one, priority -2, 4 attempts
bool(true)
two, priority -2, 4 attempts
bool(true)
three, priority -2, 4 attempts
array(0) {
}
TypeError: askr_queue_push_many(): Argument #2 ($payloads) must contain only strings, int given
TypeError: askr_queue_push_many(): Argument #2 ($payloads) must contain only strings, null given
TypeError: askr_queue_push_many(): Argument #2 ($payloads) must contain only strings, array given
int(3)
int(10000)
int(10000)
string(1) "1"
