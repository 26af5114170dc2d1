--TEST--
Strings of 0 and 1 byte, returned 100,000 times, leave PHP's heap sound
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

// One call returns a thousand of each, so that the test is about strings and not about the database.
$payloads = array_merge(...array_fill(0, 1000, ['', 'x', "\0"]));
askr_queue_push_many('q', $payloads);
$kept = [];
for ($round = 0; $round < 100; $round++) {
    $jobs = askr_queue_list('q', 'pending', PHP_INT_MAX);
    if (array_column($jobs, 'payload') !== $payloads) {
        die("round $round: other payloads\n");
    }
    $kept[] = $jobs[$round];
}
unset($jobs);
var_dump(array_column($kept, 'payload') === array_slice($payloads, 0, 100));
// PHP keeps one copy of the empty string and of each 1-byte string: they are still themselves.
var_dump('' . chr(120) . chr(0) === "x\0", strlen(substr('x', 1)), chr(120));

for ($i = 0; $i < 100; $i++) {
    $job = askr_queue_pop('q');
    askr_queue_fail($job['id'], $job['payload'], $job['payload']);
    $letter = askr_failed_find(askr_failed_list(1)[0]['id']);
    if ([$letter['payload'], $letter['uuid'], $letter['exception']] !== array_fill(0, 3, $payloads[$i])) {
        die("dead letter $i differs\n");
    }
}
echo "done\n";
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
bool(true)
bool(true)
int(0)
string(1) "x"
done
