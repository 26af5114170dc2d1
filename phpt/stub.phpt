--TEST--
The stub and the loaded extension declare the same, down to parameter names and defaults
--FILE--
<?php
require __DIR__ . '/surface.inc';

$stub = getenv('ASKR_SOURCE') . '/stubs/askr.stub.php';
$code = 'require $argv[1]; require $argv[2]; echo json_encode(surface());';
$child = proc_open([PHP_BINARY, '-n', '-r', $code, $stub, __DIR__ . '/surface.inc'], [1 => ['pipe', 'w']], $pipes);
$declared = json_decode(stream_get_contents($pipes[1]), true);
proc_close($child);

var_dump(count($declared) > 20);
print_r(array_diff($declared, surface()));
print_r(array_diff(surface(), $declared));
?>
--EXPECT--
bool(true)
Array
(
)
Array
(
)
