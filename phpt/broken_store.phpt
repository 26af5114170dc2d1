--TEST--
Every function answers with an exception where the database is broken, and PHP lives on
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_database();
ini_set('askr.queue_db', folder() . '/text.db');
file_put_contents(folder() . '/text.db', str_repeat('no database', 1000));

$thrown = 0;
foreach (array_merge(...array_values(get_defined_functions())) as $name) {
    // These open nothing, or say what is wrong.
    if (!str_starts_with($name, 'askr_') || preg_match('/^askr_(info|test_panic|heartbeat_(alive|stop))$/', $name)) {
        continue;
    }
    $fitting = ['queue' => 'q', 'state' => 'pending', 'payload' => 'x', 'payloads' => ['x'], 'queues' => ['q']];
    $arguments = array_map(fn ($p) => $fitting[$p->getName()] ?? 2, (new ReflectionFunction($name))->getParameters());
    try {
        $name(...$arguments);
        echo "$name answered\n";
    } catch (Askr\UnavailableException $e) {
        $thrown++;
        echo str_contains($e->getMessage(), 'the file is no SQLite database') ? '' : "$name: {$e->getMessage()}\n";
    }
}
var_dump($thrown > 15, $e->getCode(), $e->getPrevious(), askr_heartbeat_alive(2), askr_heartbeat_stop(2));
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
bool(true)
int(26)
NULL
bool(false)
bool(false)
