--TEST--
A path that is no usable database is an exception that names path, cause and remedy
--FILE--
<?php
require __DIR__ . '/askr.inc';
$path = fresh_database();

function open(string $path): void
{
    ini_set('askr.queue_db', $path);
    attempt(fn () => askr_queue_push('q', 'x'));
}

open(folder());
open(folder() . '/missing/queue.db');
open($path . '/below-a-file.db');
open('queue.db');

file_put_contents(folder() . '/text.db', str_repeat("plain text\n", 100));
open(folder() . '/text.db');
var_dump(file_get_contents(folder() . '/text.db') === str_repeat("plain text\n", 100));

// A database whose end is missing.
$whole = folder() . '/whole.db';
other_process("askr_queue_push_many('q', array_fill(0, 2000, 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'));", ['askr.queue_db' => $whole]);
file_put_contents(folder() . '/truncated.db', substr(file_get_contents($whole), 0, 9000));
open(folder() . '/truncated.db');

touch(folder() . '/empty.db');
open(folder() . '/empty.db');
ini_set('askr.queue_db', $path);
attempt(fn () => askr_queue_push('q', 'x'));
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECTF--
Askr\UnavailableException: open the queue: the database's path is a folder ({folder}). Name a file in it
Askr\UnavailableException: open the queue: the database's folder cannot be reached: No such file or directory (os error 2) ({folder}/missing/queue.db). Create it and give it to the user that PHP runs as
Askr\UnavailableException: open the queue: the database's folder cannot be reached: No such file or directory (os error 2) ({folder}/queue.db/below-a-file.db). Create it and give it to the user that PHP runs as
Askr\UnavailableException: open the queue: the database's path is relative (queue.db). Every process would take it from its own working directory: give an absolute path
Askr\UnavailableException: open the queue: the file is no SQLite database ({folder}/text.db). Name another file, or move this one away
bool(true)
Askr\CorruptException: open the queue: database disk image is malformed ({folder}/truncated.db). Stop the workers, and restore the database or rescue it with sqlite3's .recover
no exception, answer: 1
no exception, answer: 1
