<?php

declare(strict_types=1);

namespace Askr\Laravel\Tests;

use App\Record;
use Closure;
use Illuminate\Contracts\Console\Kernel;
use Illuminate\Contracts\Foundation\Application;
use Illuminate\Filesystem\Filesystem;
use Illuminate\Queue\QueueManager;
use Illuminate\Support\Facades\Facade;
use PDO;
use PHPUnit\Framework\TestCase;

/**
 * Each test has an application with storage and databases of its own. The test's process is one client of
 * it; workers and commands are real `artisan` processes beside it.
 */
abstract class LaravelTestCase extends TestCase
{
    /** So many seconds may pass until what is expected of other processes is true. */
    private const DEADLINE = 20.0;

    protected Application $app;

    protected string $storage;

    /** @var array<string, mixed> the configuration that this test's processes have, over the application's */
    private array $config = [];

    /** @var list<Process> */
    private array $processes = [];

    protected function setUp(): void
    {
        $this->storage = sys_get_temp_dir() . '/' . uniqid('askr-laravel-', true);
        foreach (['app', 'cache', 'framework/views', 'framework/cache'] as $folder) {
            mkdir("$this->storage/$folder", recursive: true);
        }
        touch("$this->storage/app.sqlite");
        putenv("TEST_STORAGE=$this->storage");

        // The driver changes it; each test begins as a new process does.
        ini_set('askr.queue_db', '');
        $this->configure(getenv('TEST_TIER') ? ['askr.queue_tier' => getenv('TEST_TIER')] : []);
    }

    protected function tearDown(): void
    {
        foreach ($this->processes as $process) {
            if ($process->running()) {
                $process->kill();
            }
        }
        $this->processes = [];

        // The segment outlives its processes, and the next test's queue is this one.
        if (config('askr.queue_tier') === 'memory') {
            array_map(askr_queue_clear(...), askr_queue_names());
            askr_failed_flush();
        }

        $this->app->flush();
        Facade::clearResolvedInstances();
        (new Filesystem())->deleteDirectory($this->storage);
    }

    /**
     * Boots the application anew, with more configuration, for this process and for those started later.
     *
     * @param array<string, mixed> $config by dotted names
     */
    protected function configure(array $config): void
    {
        $this->config = [...$this->config, ...$config];
        putenv('TEST_CONFIG=' . json_encode($this->config, JSON_THROW_ON_ERROR));

        Facade::clearResolvedInstances();
        $this->app = require getenv('TEST_APP') . '/bootstrap/app.php';
        $this->app->make(Kernel::class)->bootstrap();

        // The framework's handlers are for its own processes; errors in this one are PHPUnit's to report.
        restore_error_handler();
        restore_exception_handler();
    }

    protected function queue(?string $connection = null): \Illuminate\Contracts\Queue\Queue
    {
        return $this->app->make(QueueManager::class)->connection($connection);
    }

    /**
     * Starts a worker. It looks for jobs every 50 ms, unless told otherwise.
     */
    protected function work(string ...$options): Process
    {
        return $this->start(['queue:work', '--sleep=0.05', ...$options]);
    }

    /**
     * Runs a worker until nothing is pending.
     */
    protected function workUntilEmpty(string ...$options): void
    {
        $worker = $this->work('--stop-when-empty', ...$options);
        $this->assertSame(0, $worker->wait(), $worker->output());
    }

    /**
     * Runs a command to its end.
     *
     * @return string what it printed
     */
    protected function artisan(string ...$command): string
    {
        $process = $this->start($command);
        $this->assertSame(0, $process->wait(), $process->output());

        return $process->output();
    }

    /**
     * @param list<string> $command
     * @param list<string> $php options of PHP itself
     * @param list<string> $before a command that runs PHP
     */
    protected function start(array $command, array $php = [], array $before = []): Process
    {
        return $this->processes[] = new Process(
            [...$before, PHP_BINARY, ...$php, getenv('TEST_APP') . '/artisan', '--no-ansi', ...$command],
            sprintf('%s/output-%d', $this->storage, count($this->processes)),
        );
    }

    /**
     * Waits until the handlers have recorded the line so many times.
     */
    protected function recorded(string $line, int $times = 1): void
    {
        $this->eventually(
            static fn (): bool => count(Record::times($line)) >= $times,
            fn (): string => "\"$line\" was not recorded $times times, but:\n" . implode("\n", Record::lines()),
        );
    }

    /**
     * Waits until it is true.
     */
    protected function eventually(Closure $true, string|Closure $otherwise): void
    {
        for ($deadline = microtime(true) + self::DEADLINE; ! $true(); usleep(10_000)) {
            if (microtime(true) > $deadline) {
                $this->fail((is_string($otherwise) ? $otherwise : $otherwise()) . "\n" . $this->outputs());
            }
        }
        $this->addToAssertionCount(1);
    }

    protected function outputs(): string
    {
        return implode("\n", array_map(static fn (Process $process): string => $process->output(), $this->processes));
    }

    /**
     * What the application's processes reported.
     */
    protected function log(): string
    {
        return (string) @file_get_contents("$this->storage/laravel.log");
    }

    /**
     * The database, as any program may open it. A test that needs it is in the group "sqlite".
     */
    protected function database(): PDO
    {
        return new PDO("sqlite:$this->storage/app/askr.sqlite");
    }

    /**
     * The jobs of a queue in any state, in the order in which they were pushed.
     *
     * @return list<array<string, mixed>>
     */
    protected function jobs(string $queue = 'default'): array
    {
        $jobs = [];
        // In this order a job whose reservation lapses or whose delay ends meanwhile is not missed.
        foreach (['reserved', 'delayed', 'pending'] as $state) {
            $jobs += array_column(askr_queue_list($queue, $state, PHP_INT_MAX), null, 'id');
        }
        ksort($jobs);

        return array_values($jobs);
    }

    /**
     * @return list<array<string, mixed>>
     */
    protected function deadLetters(): array
    {
        return askr_failed_list(PHP_INT_MAX);
    }
}
