--TEST--
A table of the same name with other columns is left alone and named
--EXTENSIONS--
pdo
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/askr.inc';
$path = fresh_database();

foreach (['askr_jobs', 'askr_failed_jobs'] as $at => $table) {
    $file = folder() . "/$table.db";
    $db = new PDO("sqlite:$file");
    $db->exec("CREATE TABLE $table (id INTEGER PRIMARY KEY, other TEXT); INSERT INTO $table (other) VALUES ('kept')");
    ini_set('askr.queue_db', $file);
    attempt(fn () => askr_queue_push('q', 'x'));
    var_dump($db->query("SELECT other FROM $table")->fetchColumn());
}

// The same when another program changes the tables beneath an open connection.
ini_set('askr.queue_db', $path);
askr_queue_push('q', 'x');
(new PDO("sqlite:$path"))->exec('DROP TABLE askr_jobs');
attempt(fn () => askr_queue_push('q', 'x'));
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECT--
Askr\UnavailableException: open the queue: a table of that name has other columns: no such column: queue ({folder}/askr_jobs.db). Use another database, or rename the other program's table
string(4) "kept"
Askr\UnavailableException: open the queue: a table of that name has other columns: no such column: uuid ({folder}/askr_failed_jobs.db). Use another database, or rename the other program's table
string(4) "kept"
Askr\UnavailableException: push: no such table: askr_jobs ({folder}/queue.db). Nothing was changed. The tables must be those of contracts/queue.md
