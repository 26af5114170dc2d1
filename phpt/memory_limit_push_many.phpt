--TEST--
memory_limit reached while askr_queue_push_many returns the ids: all of the jobs are stored
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$payloads = array_fill(0, 200_000, 'x');
exhaust_memory(4_000_000, fn () => askr_queue_push_many('q', $payloads), function () {
    var_dump(askr_queue_size('q'));
    echo other_process("var_dump(askr_queue_push('q', 'goes on') > 0);", ['askr.busy_timeout' => 0]);
});
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECTF--
Fatal error: Allowed memory size of %d bytes exhausted (tried to allocate %d bytes) in %s on line %d
int(200000)
bool(true)
