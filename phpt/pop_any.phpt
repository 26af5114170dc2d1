--TEST--
askr_queue_pop_any() takes from the first queue that has a job, and waits for all of them
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

askr_queue_push('low', 'second');
askr_queue_push('high', 'first');
askr_queue_push('low', 'third');
while ($job = askr_queue_pop_any(['high', 'low'], visibility: 60)) {
    echo $job['queue'], ': ', $job['payload'], "\n";
    askr_queue_delete($job['id']);
}
$start = microtime(true);
var_dump(askr_queue_pop_any(['high', 'low'], 60, 0.2), microtime(true) - $start >= 0.2);

attempt(fn () => askr_queue_pop_any([]));
attempt(fn () => askr_queue_pop_any(['a', '']));
attempt(fn () => askr_queue_pop_any(['a', 1]));
attempt(fn () => askr_queue_pop_any('a'));
attempt(fn () => askr_queue_pop_any(['a'], -1));
attempt(fn () => askr_queue_pop_any(['a'], 60, NAN));
?>
--CLEAN--
<?php
require __DIR__ . '/askr.inc';
clean();
?>
--EXPECT--
high: first
low: second
low: third
NULL
bool(true)
ValueError: askr_queue_pop_any(): Argument #1 ($queues) must name at least one queue
ValueError: askr_queue_pop_any(): Argument #1 ($queues) must not be empty
TypeError: askr_queue_pop_any(): Argument #1 ($queues) must contain only strings, int given
TypeError: askr_queue_pop_any(): Argument #1 ($queues) must be of type array, string given
ValueError: askr_queue_pop_any(): Argument #2 ($visibility) must be between 0 and 4611686018427387903, -1 given
ValueError: askr_queue_pop_any(): Argument #3 ($wait) must be a number of seconds, 0 or more
