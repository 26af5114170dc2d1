<?php

declare(strict_types=1);

namespace Askr\Laravel\Tests;

use App\Jobs\PriorityProbe;
use App\Jobs\Probe;
use App\Record;
use Illuminate\Queue\Console\PauseCommand;

/**
 * What a worker does with a job: order, tries, timeouts, signals.
 */
final class WorkerTest extends LaravelTestCase
{
    public function testJobsAreTakenByPriorityThenInOrder(): void
    {
        $this->queue()->bulk([
            new Probe('1'),
            new Probe('2'),
            (new PriorityProbe('9'))->with(['level' => 9]),
            (new PriorityProbe('-1'))->with(['level' => -1]),
        ]);
        $this->workUntilEmpty();

        $this->assertSame(
            ['9 start 1', '9 done 1', '1 start 1', '1 done 1', '2 start 1', '2 done 1', '-1 start 1', '-1 done 1'],
            Record::lines(),
        );
        $this->assertSame(0, $this->queue()->size());
    }

    public function testADelayedJobIsTakenWhenItsTimeHasComeAndStopsNoOther(): void
    {
        $pushed = microtime(true);
        Probe::dispatch('delayed')->delay(2);
        Probe::dispatch('ready');
        $this->work();
        $this->recorded('delayed done 1');

        $this->assertSame('ready start 1', Record::lines()[0]);
        $waited = Record::times('delayed start 1')[0] - $pushed;
        $this->assertGreaterThan(1.0, $waited);
        $this->assertLessThan(4.0, $waited);
    }

    public function testAJobIsRetriedAfterItsBackoffsAndThenFailsForGood(): void
    {
        $this->queue()->push((new Probe('a', 'throw'))->with(['tries' => 3, 'backoff' => [1, 2]]));
        $this->work();
        $this->recorded('a failed RuntimeException');

        $this->assertSame(['a start 1', 'a start 2', 'a start 3', 'a failed RuntimeException'], Record::lines());
        [[$first], [$second], [$third]] = array_map(Record::times(...), ['a start 1', 'a start 2', 'a start 3']);
        // Whole seconds: a backoff of n ends between n - 1 and n seconds later.
        $this->assertGreaterThan(0.0, $second - $first);
        $this->assertGreaterThan(1.0, $third - $second);
        $this->eventually(fn (): bool => $this->queue()->size() === 0, 'the failed job is still in the queue');
        $this->assertSame([3], array_column($this->deadLetters(), 'attempts'));
    }

    public function testTheWorkersTriesAndBackoffCountForJobsWithoutTheirOwn(): void
    {
        Probe::dispatch('a', 'throw');
        $this->work('--tries=2', '--backoff=0');
        $this->recorded('a failed RuntimeException');

        $this->assertSame(['a start 1', 'a start 2', 'a failed RuntimeException'], Record::lines());
    }

    public function testAJobMayBeReleasedAsOftenAsTheFrameworkLetsIt(): void
    {
        $this->queue()->push((new Probe('a', str_repeat('release:0 ', 120) . 'ok'))->with(['tries' => 0]));
        $this->workUntilEmpty();

        $this->assertSame('a done 121', Record::lines()[241]);
        $this->assertSame([0, []], [$this->queue()->size(), $this->deadLetters()]);
    }

    public function testAJobIsRetriedUntilItsTime(): void
    {
        $this->work('--tries=1');
        Probe::dispatch('ready');
        $this->recorded('ready done 1');

        $until = time() + 2;
        $this->queue()->push((new Probe('a', 'throw'))->with(['retryUntil' => $until, 'tries' => 1]));
        $this->recorded('a failed RuntimeException');

        $this->assertContains('a start 2', Record::lines(), 'the tries counted, though retryUntil was given');
        $this->assertGreaterThanOrEqual($until, Record::times('a failed RuntimeException')[0]);
        $this->assertCount(1, $this->deadLetters());
    }

    public function testAJobFailsAfterItsMaximalExceptions(): void
    {
        $script = 'release:0 release:0 throw throw ok';
        $this->queue()->push((new Probe('a', $script))->with(['tries' => 10, 'maxExceptions' => 2]));
        $this->workUntilEmpty();

        $this->assertSame('a failed RuntimeException', Record::lines()[6]);
        $this->assertSame([4], array_column($this->deadLetters(), 'attempts'));
    }

    public function testAJobFailsWhenItSaysSoOrIsGoneWhenItDeletesItself(): void
    {
        Probe::dispatch('a', 'fail');
        Probe::dispatch('b', 'delete');
        $this->workUntilEmpty('--tries=5');

        $this->assertSame(
            ['a start 1', 'a failed RuntimeException', 'a done 1', 'b start 1', 'b done 1'],
            Record::lines(),
        );
        $this->assertSame(0, $this->queue()->size());
        $this->assertCount(1, $this->deadLetters());
    }

    public function testATimeoutEndsTheWorkerAndTheJobComesBack(): void
    {
        $this->configure(['queue.connections.askr' => ['driver' => 'askr', 'retry_after' => 3]]);
        $this->queue()->push((new Probe('a', 'sleep:60 ok'))->with(['timeout' => 1]));
        $worker = $this->work('--tries=2');

        $this->assertSame(-SIGKILL, $worker->wait());
        $this->assertSame([1, []], [$this->queue()->size(), $this->deadLetters()]);

        $this->work('--tries=2');
        $this->recorded('a done 2');
    }

    public function testATimeoutOfTheLastTryFailsTheJob(): void
    {
        $this->queue()->push((new Probe('a', 'sleep:60'))->with(['timeout' => 1, 'tries' => 1]));

        $this->assertSame(-SIGKILL, $this->work()->wait());
        $this->assertSame(['a start 1', 'a failed TimeoutExceededException'], Record::lines());
        $this->assertSame([0, 1], [$this->queue()->size(), count($this->deadLetters())]);
    }

    public function testATimeoutFailsAJobThatWantsThat(): void
    {
        $job = (new Probe('a', 'sleep:60'))->with(['timeout' => 1, 'tries' => 5, 'failOnTimeout' => true]);
        $this->queue()->push($job);

        $this->assertSame(-SIGKILL, $this->work()->wait());
        $this->assertSame(['a start 1', 'a failed TimeoutExceededException'], Record::lines());
        $this->assertSame([0, 1], [$this->queue()->size(), count($this->deadLetters())]);
    }

    public function testSigtermLetsTheJobFinish(): void
    {
        Probe::dispatch('a', 'sleep:1');
        Probe::dispatch('b');
        $worker = $this->work();
        $this->recorded('a start 1');
        $worker->signal(SIGTERM);

        $this->assertSame(0, $worker->wait());
        $this->assertSame(['a start 1', 'a done 1'], Record::lines());
        $this->assertSame(1, $this->queue()->pendingSize());
    }

    public function testAWaitingWorkerObeysSigtermAtOnce(): void
    {
        foreach (['default', 'high,low'] as $queues) {
            $worker = $this->waitingWorker($queues);
            $sent = microtime(true);
            $worker->signal(SIGTERM);

            $this->assertSame(0, $worker->wait());
            $this->assertLessThan(2.0, microtime(true) - $sent, "on $queues");
        }
    }

    public function testAWaitingWorkerTakesAJobOfAnyOfItsQueuesAtOnce(): void
    {
        foreach (['default' => ['default'], 'high,low' => ['low', 'high']] as $queues => $names) {
            $this->waitingWorker($queues);
            foreach ($names as $queue) {
                Probe::dispatch("on $queue")->onQueue($queue);
                $pushed = microtime(true);
                $this->recorded("on $queue done 1");

                $this->assertLessThan(1.0, Record::times("on $queue start 1")[0] - $pushed, "on $queue of $queues");
            }
        }
    }

    public function testAFullFirstQueueComesBeforeTheSecond(): void
    {
        Probe::dispatch('low')->onQueue('low');
        $this->queue()->bulk([new Probe('high 1'), new Probe('high 2')], '', 'high');
        $this->workUntilEmpty('--queue=high,low');

        $this->assertSame(
            ['high 1 start 1', 'high 1 done 1', 'high 2 start 1', 'high 2 done 1', 'low start 1', 'low done 1'],
            Record::lines(),
        );
    }

    public function testAPausedQueueRests(): void
    {
        if (! class_exists(PauseCommand::class)) {
            $this->markTestSkipped('This Laravel cannot pause a queue.');
        }

        $this->artisan('queue:pause', 'askr:default');
        Probe::dispatch('resting');
        Probe::dispatch('working')->onQueue('other');
        $this->work('--queue=default,other');
        $this->recorded('working done 1');
        $this->assertSame(['working start 1', 'working done 1'], Record::lines());

        $this->artisan('queue:resume', 'askr:default');
        $this->recorded('resting done 1');
    }

    public function testARestartEndsTheWorker(): void
    {
        Probe::dispatch('a');
        $worker = $this->work();
        $this->recorded('a done 1');
        $this->artisan('queue:restart');

        $this->assertSame(0, $worker->wait());
    }

    /**
     * A worker that waits 30 s for a job inside the extension, and does so already.
     */
    private function waitingWorker(string $queues): Process
    {
        $this->configure(['queue.connections.patient' => ['driver' => 'askr', 'block_for' => 30]]);
        $name = explode(',', $queues)[0];
        Probe::dispatch("first on $queues")->onQueue($name);
        $worker = $this->work('patient', "--queue=$queues");
        $this->recorded("first on $queues done 1");

        // It waits once its processor time stands still: rounds without waiting would use it up.
        $this->eventually(function () use ($worker): bool {
            $before = $worker->cpuTicks();
            usleep(300_000);

            return $worker->cpuTicks() - $before <= 2;
        }, 'the worker does not wait');

        return $worker;
    }
}
