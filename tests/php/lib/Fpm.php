<?php

declare(strict_types=1);

/** A PHP-FPM of the test's own, with two workers. */
final class Fpm
{
    public readonly Process $master;

    private string $socket;

    /**
     * @param array<string, string> $admin the pool's php_admin_value settings
     * @param list<string> $options of the master, as `-d` takes them
     */
    public function __construct(array $admin, array $options = [])
    {
        $binary = getenv('PHP_FPM') ?: need('php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION);
        need('cgi-fcgi');
        $this->socket = folder('fpm.sock');
        $pool = [
            '[global]', 'error_log = ' . folder('fpm.log'), 'daemonize = no',
            '[test]', "listen = $this->socket", 'pm = static', 'pm.max_children = 2', 'clear_env = no', 'catch_workers_output = yes',
        ];
        if (posix_geteuid() === 0) {
            array_push($pool, 'user = nobody', 'group = nogroup');
            chown(folder(), 'nobody');
            chgrp(folder(), 'nogroup');
        }
        foreach ($admin as $name => $value) {
            $pool[] = "php_admin_value[$name] = \"$value\"";
        }
        file_put_contents(folder('fpm.conf'), implode("\n", $pool) . "\n");
        // A request without a database has a segment of the test's, not one that stays in /dev/shm.
        $command = [$binary, '-n', '-F', '-y', folder('fpm.conf'), '-d', 'askr.shm_dir=' . folder()];
        foreach ($options as $option) {
            array_push($command, '-d', $option);
        }
        $this->master = new Process($command);
        $this->ready(fn () => file_exists($this->socket));
    }

    /** What this code prints as the answer to a request. */
    public function request(string $code): string
    {
        $script = folder('request.php');
        file_put_contents($script, "<?php $code");
        $request = new Process([
            'env', '-i', 'PATH=' . getenv('PATH'), "SCRIPT_FILENAME=$script", 'REQUEST_METHOD=GET', 'GATEWAY_INTERFACE=CGI/1.1',
            'cgi-fcgi', '-bind', '-connect', $this->socket,
        ]);
        same(0, $request->wait(), $request->output() . $this->log());
        $parts = explode("\r\n\r\n", $request->output(), 2);
        holds(isset($parts[1]), "an answer: {$request->output()} {$this->log()}");

        return $parts[1];
    }

    /** @return list<int> the workers' process ids */
    public function workers(): array
    {
        $children = @file_get_contents("/proc/{$this->master->pid()}/task/{$this->master->pid()}/children");

        return array_map('intval', preg_split('/ /', trim((string) $children), -1, PREG_SPLIT_NO_EMPTY));
    }

    /** Reloads as a deploy does it, and waits until only new workers are there. */
    public function reload(): void
    {
        $old = $this->workers();
        $this->master->signal(SIGUSR2);
        $this->ready(fn () => count($this->workers()) === 2 && array_intersect($old, $this->workers()) === []);
    }

    /** Stops as a service manager does it. */
    public function stop(): void
    {
        $this->master->signal(SIGQUIT);
        same(0, $this->master->wait(10), 'status of the master: ' . $this->log());
        holds(!preg_match('/SIG(SEGV|ABRT|BUS|KILL)|Warning|Fatal/', $this->log()), $this->log());
    }

    /** Its processes are a session of their own, which nobody else ends when a test fails halfway. */
    public function __destruct()
    {
        if ($this->master->running()) {
            $this->master->signal(SIGTERM)->wait(10);
        }
    }

    public function log(): string
    {
        return $this->master->output() . (string) @file_get_contents(folder('fpm.log'));
    }

    private function ready(callable $holds): void
    {
        until(fn () => $holds() || ($this->master->running() ? false : throw new LogicException($this->log())), 'FPM is ready');
    }
}
