--TEST--
One process, more databases than it keeps open: each keeps its jobs, its ids and its claims
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_database();

$use = fn (int $n) => ini_set('askr.queue_db', folder() . "/$n.db");
for ($round = 0; $round < 3; $round++) {
    for ($n = 0; $n < 12; $n++) {
        $use($n);
        askr_queue_push('q', "$n");
    }
}
for ($n = 0; $n < 12; $n++) {
    $use($n);
    [$job, $size] = [askr_queue_pop('q'), askr_queue_size('q')];
    echo $job['payload'] === "$n" && $job['id'] === 1 && $size === 2 && askr_queue_delete(1) ? '.' : "$n differs\n";
}
// The second claim on a job of one database is not one on the job of that id in another.
$use(20);
$id = askr_queue_push('q', 'x');
askr_queue_pop('q', 0);
askr_queue_pop('q');
$use(21);
var_dump(askr_queue_push('q', 'x') === $id, askr_queue_pop('q')['attempts'], askr_queue_delete($id));
$use(20);
var_dump(askr_queue_pop('q'), askr_queue_delete($id));
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
............bool(true)
int(1)
bool(true)
NULL
bool(true)
