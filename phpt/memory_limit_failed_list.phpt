--TEST--
memory_limit reached while askr_failed_list builds its answer: nothing is held
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

askr_queue_push_many('q', array_fill(0, 8, str_repeat('x', 1_000_000)));
while ($id = askr_queue_pop('q')['id'] ?? null) {
    askr_queue_fail($id);
}
exhaust_memory(8_000_000, fn () => askr_failed_list(), function () {
    echo other_process("var_dump(askr_queue_push('q', 'goes on') > 0);", ['askr.busy_timeout' => 0]);
    var_dump(count(askr_failed_list()), askr_queue_push('q', 'here too') > 0);
});
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECTF--
Fatal error: Allowed memory size of %d bytes exhausted (tried to allocate %d bytes) in %s on line %d
bool(true)
int(8)
bool(true)
