--TEST--
askr_queue_push stores a job and answers with an id that only grows
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$first = askr_queue_push('q', 'plain');
$second = askr_queue_push('q', 'all', 0, 7, 3);
$delayed = askr_queue_push('q', 'delayed', 3600);
var_dump($first > 0, $second > $first, $delayed > $second);

foreach (['pending', 'delayed'] as $state) {
    foreach (askr_queue_list('q', $state) as $job) {
        $in = $job['available_at'] - $job['created_at'];
        echo "$state: $job[payload], in $in s, priority $job[priority], $job[max_attempts] attempts\n";
    }
}

askr_queue_clear('q');
var_dump(askr_queue_push('q', 'after all were removed') > $delayed);
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
bool(true)
bool(true)
bool(true)
pending: plain, in 0 s, priority 0, 25 attempts
pending: all, in 0 s, priority 7, 3 attempts
delayed: delayed, in 3600 s, priority 0, 25 attempts
bool(true)
