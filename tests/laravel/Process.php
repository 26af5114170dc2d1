<?php

declare(strict_types=1);

namespace Askr\Laravel\Tests;

use RuntimeException;

/**
 * A process that a test started, and ends at the latest with the test.
 */
final class Process
{
    /** @var resource */
    private $process;

    private ?int $exit = null;

    /**
     * @param list<string> $command
     * @param string $output the file that takes what it prints
     */
    public function __construct(array $command, private readonly string $output)
    {
        $this->process = proc_open(
            $command,
            [['file', '/dev/null', 'r'], ['file', $output, 'a'], ['file', $output, 'a']],
            $pipes,
        );
    }

    public function output(): string
    {
        return (string) file_get_contents($this->output);
    }

    public function running(): bool
    {
        if ($this->exit === null) {
            $status = proc_get_status($this->process);
            $this->exit = match (true) {
                $status['running'] => null,
                $status['signaled'] => -$status['termsig'],
                default => $status['exitcode'],
            };
        }

        return $this->exit === null;
    }

    /**
     * Processor time that it has used, in hundredths of a second.
     */
    public function cpuTicks(): int
    {
        $stat = file_get_contents('/proc/' . proc_get_status($this->process)['pid'] . '/stat');
        $fields = explode(' ', substr($stat, strrpos($stat, ')') + 2));

        return (int) $fields[11] + (int) $fields[12];
    }

    public function signal(int $signal): void
    {
        proc_terminate($this->process, $signal);
    }

    /**
     * Waits until it ends.
     *
     * @return int its exit code, or minus the signal that ended it
     */
    public function wait(float $seconds = 30): int
    {
        for ($deadline = microtime(true) + $seconds; $this->running(); usleep(5_000)) {
            if (microtime(true) > $deadline) {
                throw new RuntimeException("still running after $seconds s, having printed: {$this->output()}");
            }
        }

        return $this->exit;
    }

    public function kill(): void
    {
        $this->signal(SIGKILL);
        $this->wait();
    }
}
