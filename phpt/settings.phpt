--TEST--
The README's table of settings is the extension's
--ENV--
ASKR_QUEUE_DB=
--FILE--
<?php
$readme = [];
foreach (file(getenv('ASKR_SOURCE') . '/README.md') as $line) {
    if (str_starts_with($line, '| `askr.')) {
        [, $name, , $default] = array_map(fn ($cell) => trim($cell, ' `'), explode('|', $line));
        $readme[] = [$name, $default];
    }
}
$loaded = [];
foreach (ini_get_all('askr') as $name => $setting) {
    $loaded[] = [$name, $setting['global_value'] ?: 'empty'];
}
echo json_encode($loaded), "\n";
sort($readme);
var_dump($readme === $loaded);
?>
--EXPECT--
[["askr.busy_timeout","5000"],["askr.queue_db","empty"],["askr.queue_memory","32M"],["askr.queue_synchronous","full"],["askr.shm_dir","\/dev\/shm"],["askr.shm_mode","0600"],["askr.shm_name","empty"]]
bool(true)
