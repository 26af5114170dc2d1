<?php

/* Tests that build the crate in other ways: to panic on purpose, and without PHP for a C program. */

declare(strict_types=1);

/** Builds the crate's library and answers its path. Each kind has a folder of its own that is kept. */
function build(string $kind, string ...$options): string
{
    need('cargo');
    $top = dirname(__DIR__, 2);
    $target = "$top/target/tmp/$kind";
    $cargo = new Process(['cargo', 'build', '--quiet', '--locked', '--lib', '--manifest-path', "$top/Cargo.toml", '--target-dir', $target, ...$options]);
    same(0, $cargo->wait(600), $cargo->output());

    return "$target/debug/libaskr.so";
}

return [
    'a panic is an exception, and nobody waits for what it held' => function () {
        $extension = build('panic', '--features', 'test-panic');
        $command = array_map(fn ($part) => str_starts_with($part, 'extension=/') ? "extension=$extension" : $part, php_command());
        $code = '
            askr_queue_push("q", "before");
            for ($i = 0; $i < 100; $i++) {
                try {
                    askr_test_panic();
                } catch (Askr\Exception $e) {
                    if ($i === 0) echo $e::class, ": ", $e->getMessage(), "\n";
                }
            }
            askr_queue_push("q", "after");
            echo "jobs: ", askr_queue_size("q"), "\n";
            fgets(STDIN);
        ';
        $process = (new Process([...$command, '-r', $code]))->says("jobs: 2\n");
        holds(str_contains($process->output(), 'Askr\\Exception: '), $process->output());
        ini_set('askr.busy_timeout', '0');
        askr_queue_push('q', 'meanwhile, from outside');
        same(0, $process->wait(), $process->output());
        same(3, askr_queue_size('q'), 'jobs');
        sound();
    },

    'a C program drains what PHP pushed' => function () {
        need('cc');
        $top = dirname(__DIR__, 2);
        $folder = dirname(build('core', '--no-default-features'));
        program('cc', '-Wall', '-Werror', "-I$top/include", "-L$folder", "-Wl,-rpath,$folder", "$top/tests/c/drain.c", '-laskr', '-o', folder('drain'));
        $payloads = ['plain', '', "\0\xff", str_repeat('x', 100_000)];
        $ids = askr_queue_push_many('q', $payloads);
        askr_queue_push('q', 'not yet', 3600);
        askr_queue_push('other', 'stays');
        $expected = array_map(fn ($id, $payload) => "$id\t1\t" . bin2hex($payload), $ids, $payloads);
        same($expected, explode("\n", program(folder('drain'), db(), 'q')), 'what the program printed');
        same([1, 1], [askr_queue_stats('q')['total'], askr_queue_stats('other')['total']], 'jobs left');
        sound();
    },
];
