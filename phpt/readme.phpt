--TEST--
The README's examples in plain PHP run
--FILE--
<?php
require __DIR__ . '/askr.inc';
fresh_queue();

$section = explode("\n## ", explode("\n## Plain PHP\n", file_get_contents(getenv('ASKR_SOURCE') . '/README.md'))[1])[0];
preg_match_all('/^```php\n(.*?)^```$/ms', $section, $examples);
foreach ($examples[1] as $at => $example) {
    eval($example);
    echo 'example ', $at + 1, ': ', json_encode(array_map(fn ($q) => [$q, askr_queue_stats($q)['total']], askr_queue_names())), "\n";
}
?>
--CLEAN--
<?php require __DIR__ . '/askr.inc'; clean();
--EXPECTF--
example 1: [["mail",5]]
example 2: [["mail",1]]
0 pending, 1 delayed, 1 in all
example 3: [["mail",1]]
example 4: [["mail",1]]
