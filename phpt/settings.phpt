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
foreach (askr_info()['settings'] as $name => $setting) {
    $loaded[] = [$name, $setting['value'] ?: 'empty'];
}
echo json_encode($loaded), "\n";
var_dump($readme === $loaded, count($loaded) === count(ini_get_all('askr')));
?>
--EXPECT--
[["askr.queue_db","empty"],["askr.busy_timeout","5000"],["askr.queue_synchronous","full"]]
bool(true)
bool(true)
