--TEST--
open_basedir holds for a path that a script or the environment chose, not for one from php.ini
--FILE--
<?php
require __DIR__ . '/askr.inc';
$inside = fresh_database();
$outside = dirname(folder()) . '/open_basedir.outside.db';
$try = 'try { var_dump(askr_queue_push("q", "x") > 0); } catch (Askr\UnavailableException $e) { echo strtok($e->getMessage(), "("), "\n"; }';
$restricted = ['open_basedir' => folder()];

echo other_process($try, $restricted);
echo other_process($try, $restricted + ['askr.queue_db' => $outside]);
echo other_process("ini_set('askr.queue_db', '$inside'); $try", $restricted + ['askr.queue_db' => '']);
echo other_process("ini_set('askr.queue_db', '$outside'); $try", $restricted + ['askr.queue_db' => '']);
echo other_process("ini_set('askr.queue_db', '$inside/../../open_basedir.outside.db'); $try", $restricted);
echo other_process($try, $restricted + ['askr.queue_db' => ''], ['ASKR_QUEUE_DB' => $inside]);
echo other_process($try, $restricted + ['askr.queue_db' => ''], ['ASKR_QUEUE_DB' => $outside]);
// Also for a database that is open already when the restriction comes.
echo other_process("ini_set('askr.queue_db', '$outside'); $try ini_set('open_basedir', '" . folder() . "'); $try");
?>
--CLEAN--
<?php
require __DIR__ . '/askr.inc';
clean();
array_map('unlink', glob(__DIR__ . '/open_basedir.outside.db*'));
--EXPECT--
bool(true)
bool(true)
bool(true)
open_basedir does not allow the database's path 
open_basedir does not allow the database's path 
bool(true)
open_basedir does not allow the database's path 
bool(true)
open_basedir does not allow the database's path 
