<?php

/** What the tests are written with. */

declare(strict_types=1);

require __DIR__ . '/Process.php';
require_once __DIR__ . '/tiers.php';

/** This machine cannot run the test; the message says what it lacks. */
final class CannotRun extends RuntimeException {}

/** A path in the test's own folder. */
function folder(string $name = ''): string
{
    return rtrim(getenv('TEST_FOLDER') . "/$name", '/');
}

/** The database of the test's queue. */
function db(): string
{
    return folder('queue.db');
}

/** Whether the test's queue is in shared memory: in the test's folder, by the name "test". */
function is_in_memory(): bool
{
    return str_ends_with(getenv('TEST_NAME'), IN_MEMORY);
}

/** The setting askr.queue_db that names the test's queue. */
function queue_db(): string
{
    return is_in_memory() ? '' : db();
}

/** Fails the test unless the two are the same. */
function same(mixed $expected, mixed $actual, string $what = ''): void
{
    if ($expected !== $actual) {
        throw new LogicException(sprintf('%s: expected %s, got %s', $what, json_encode($expected), json_encode($actual)));
    }
}

/** Fails the test unless it holds. */
function holds(bool $condition, string $what): void
{
    $condition || throw new LogicException("does not hold: $what");
}

/** Waits until it holds, and fails the test when it does not in time. */
function until(callable $holds, string $what, float $seconds = 30): mixed
{
    for ($end = microtime(true) + $seconds; microtime(true) < $end; usleep(1_000)) {
        if ($answer = $holds()) {
            return $answer;
        }
    }
    throw new LogicException("did not come to hold within $seconds s: $what");
}

/** The command of a PHP with the extension, on the test's queue unless the settings say otherwise. */
function php_command(array $settings = []): array
{
    $command = json_decode(getenv('TEST_COMMAND'), true);
    foreach ($settings + ['askr.queue_db' => queue_db()] as $name => $value) {
        array_push($command, '-d', "$name=\"$value\"");
    }

    return $command;
}

/** Starts a PHP that runs this code; `$argv[1]` on are the arguments. */
function php(string $code, array $arguments = [], array $settings = []): Process
{
    $code = 'require "' . __DIR__ . '/harness.php"; ' . $code;

    return new Process([...php_command($settings), '-r', $code, '--', ...array_map('strval', $arguments)]);
}

/** What this code prints in another PHP, which has to end well. */
function answer(string $code, array $arguments = [], array $settings = []): string
{
    $process = php($code, $arguments, $settings);
    same(0, $process->wait(), $process->output());

    return $process->output();
}

/** What a program prints, which has to end well. */
function program(string ...$command): string
{
    $process = new Process($command);
    same(0, $process->wait(), implode(' ', $command) . ': ' . $process->output());

    return trim($process->output());
}

/**
 * What SQLite's own shell answers, in a process of its own.
 *
 * PHP forks for it, and just before a fork askr closes what it has open. Where that would spoil the test, see
 * `shell()`.
 */
function sql(string $sql, ?string $db = null): string
{
    return program('sqlite3', '-cmd', '.timeout 10000', $db ?? db(), $sql);
}

/** SQLite's shell, started before the test uses its queue; what it answers to `ask()` comes without a fork. */
function shell(): Process
{
    return new Process(['sqlite3', '-cmd', '.timeout 10000', db()]);
}

/** What a running shell answers. */
function ask(Process $shell, string $sql): string
{
    $before = strlen($shell->output());
    $shell->tell($sql)->tell('.print answered');
    until(fn () => str_contains(substr($shell->output(), $before), "answered\n"), "the shell answers $sql");

    return trim(explode("answered\n", substr($shell->output(), $before))[0]);
}

/** Runs code in a fork, which then ends; its process id. An exception in it is printed and its status 1. */
function fork(callable $code): int
{
    $pid = pcntl_fork();
    if ($pid === 0) {
        try {
            $code();
            exit(0);
        } catch (Throwable $e) {
            fwrite(STDERR, "in a fork: $e\n");
            exit(1);
        }
    }

    return $pid;
}

/** Waits for a fork; its exit status, or minus the signal that ended it. */
function join_fork(int $pid): int
{
    until(function () use ($pid, &$status) {
        return pcntl_waitpid($pid, $status, WNOHANG) === $pid;
    }, "process $pid ends");

    return pcntl_wifsignaled($status) ? -pcntl_wtermsig($status) : pcntl_wexitstatus($status);
}

/** The database is sound, by SQLite's own check from outside; or the segment's books add up. */
function sound(): void
{
    if (is_in_memory()) {
        ['size' => $size, 'used' => $used, 'free' => $free] = askr_info()['queue'];
        same($size, $used + $free, 'bytes used and free');
        return;
    }
    same('ok', sql('PRAGMA integrity_check'), 'integrity_check');
}

/** The class and message of what a call throws; fails the test when it throws nothing. */
function thrown(callable $call): Throwable
{
    try {
        $answer = $call();
    } catch (Throwable $e) {
        return $e;
    }
    throw new LogicException('nothing was thrown, it answered ' . json_encode($answer));
}

/** Needs root. */
function need_root(): void
{
    posix_geteuid() === 0 || throw new CannotRun('needs root');
}

/** The path of a program that the test needs. */
function need(string $program): string
{
    $path = trim((string) shell_exec('command -v ' . escapeshellarg($program)));

    return $path !== '' ? $path : throw new CannotRun("there is no $program here");
}
