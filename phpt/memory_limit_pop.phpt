--TEST--
memory_limit reached while a popped job is returned: the job is reserved, and nobody waits
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$id = askr_queue_push('q', str_repeat('x', 10_000_000));
exhaust_memory(10_000_000, fn () => askr_queue_pop('q', 600), function () use ($id) {
    $stats = askr_queue_stats('q');
    echo "$stats[reserved] reserved of $stats[total]\n";
    echo other_process("var_dump(askr_queue_release($id), strlen(askr_queue_pop('q')['payload']));", ['askr.busy_timeout' => 0]);
    var_dump(askr_queue_push('q', 'goes on') > $id);
});
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECTF--
Fatal error: Allowed memory size of %d bytes exhausted (tried to allocate %d bytes) in %s on line %d
1 reserved of 1
bool(true)
int(10000000)
bool(true)
